import type { GitRepository as Entry, GitFile } from "../../src/contract/index.ts";
import { placesOf } from "../../src/git/find-repository.ts";
import { Git } from "../../src/git/run-git.ts";
import { SnapshotReader } from "../../src/git/snapshot.ts";
import type { GitRepository } from "./git-repository.ts";

/** One reading of a repository. */
export async function readSnapshot(repository: GitRepository, git = new Git(repository.env)): Promise<Entry> {
  const places = await placesOf(repository.root);
  if (!places) throw new Error("no repository");
  return new SnapshotReader(git).read(places);
}

export const byPath = (entry: Entry): Record<string, GitFile> =>
  Object.fromEntries((entry.files ?? []).map((file) => [file.path, file]));
