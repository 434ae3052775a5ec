import type { RepositoryPlaces } from "./find-repository.ts";
import { Repository, type RepositoryRooms } from "./repository.ts";

/** Repositories that nobody watches are kept for the next who asks, because what did not change is not read again. */
const IDLE_MOST = 8;

/** One object per repository, however many connections and chats look at it. */
export class Registry {
  readonly #rooms: RepositoryRooms;
  /** Least recently used first. */
  readonly #known = new Map<string, Repository>();

  constructor(rooms: RepositoryRooms) {
    this.#rooms = rooms;
  }

  get(places: RepositoryPlaces): Repository {
    const known = this.#known.get(places.root);
    const isUsable = known && !known.snapshot?.entry.removed;
    const repository = isUsable ? known : new Repository(places, this.#rooms);
    this.#known.delete(places.root);
    this.#known.set(places.root, repository);
    this.#forget();
    return repository;
  }

  watched(): Repository[] {
    return [...this.#known.values()].filter((repository) => repository.isWatched);
  }

  #forget(): void {
    const idle = [...this.#known.values()].filter((repository) => !repository.isWatched);
    for (const repository of idle.slice(0, Math.max(0, idle.length - IDLE_MOST))) this.#known.delete(repository.root);
  }
}
