import { defineConfig } from "vitest/config";

// Integration and e2e tests start real processes; two cores carry two files at a time.
const real = { testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 2 };

export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"] } },
      { test: { name: "native", include: ["test/native/**/*.test.ts"], ...real } },
      { test: { name: "integration", include: ["test/integration/**/*.test.ts"], ...real } },
      { test: { name: "e2e", include: ["test/e2e/**/*.test.ts"], ...real } },
    ],
  },
});
