import type { Parameter, Statements } from "../../storage/index.ts";
import type { CreatedVideo, SeenVideo, StoredVideo, VideoList, VideoStore } from "../store.ts";
import { parametersOf, statementsWith, toStoredVideo, type VideoRow } from "./rows.ts";

const SQL = statementsWith((index) => `$${index}`);

/** Video jobs on Postgres. */
export class PostgresVideoStore implements VideoStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async insert(video: StoredVideo): Promise<void> {
    await this.#statements.run(SQL.insert, parametersOf.insert(video));
  }

  async find(id: string): Promise<StoredVideo | undefined> {
    return (await this.#videos(SQL.find, [id]))[0];
  }

  findByVideoId(videoId: string): Promise<StoredVideo[]> {
    return this.#videos(SQL.findByVideoId, [videoId]);
  }

  async created(id: string, created: CreatedVideo): Promise<boolean> {
    return (await this.#statements.run(SQL.created, parametersOf.created(id, created))).length > 0;
  }

  async seen(id: string, seen: SeenVideo): Promise<void> {
    await this.#statements.run(SQL.seen, parametersOf.seen(id, seen));
  }

  list(list: VideoList): Promise<StoredVideo[]> {
    return this.#videos(list.isAscending ? SQL.ascending : SQL.descending, parametersOf.list(list));
  }

  async remove(id: string): Promise<void> {
    await this.#statements.run(SQL.remove, [id]);
  }

  async deleteExpired(at: number): Promise<void> {
    await this.#statements.run(SQL.deleteExpired, [at]);
  }

  async #videos(statement: string, parameters: readonly Parameter[]): Promise<StoredVideo[]> {
    return (await this.#statements.run<VideoRow>(statement, parameters)).map(toStoredVideo);
  }
}
