import { defineConfig } from "vitest/config";

// Real processes on two cores: two files at a time, and one kind of test after the other.
const real = (groupOrder: number) => ({
  testTimeout: 60_000,
  hookTimeout: 60_000,
  maxWorkers: 2,
  sequence: { groupOrder },
});

export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"], sequence: { groupOrder: 0 } } },
      { test: { name: "native", include: ["test/native/**/*.test.ts"], ...real(1) } },
      { test: { name: "integration", include: ["test/integration/**/*.test.ts"], ...real(2) } },
      { test: { name: "e2e", include: ["test/e2e/**/*.test.ts"], ...real(3) } },
    ],
  },
});
