import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { CreatedVideo, SeenVideo, StoredVideo, VideoList, VideoStore } from "../store.ts";
import { parametersOf, statementsWith, toStoredVideo, type VideoRow } from "./rows.ts";

const SQL = statementsWith((index) => `?${index}`);

/** Video jobs on SQLite. */
export class SqliteVideoStore implements VideoStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  insert(video: StoredVideo): Promise<void> {
    return this.#run(SQL.insert, parametersOf.insert(video));
  }

  find(id: string): Promise<StoredVideo | undefined> {
    return Promise.resolve(this.#videos(SQL.find, [id])[0]);
  }

  findByVideoId(videoId: string): Promise<StoredVideo[]> {
    return Promise.resolve(this.#videos(SQL.findByVideoId, [videoId]));
  }

  created(id: string, created: CreatedVideo): Promise<boolean> {
    return Promise.resolve(this.#rows(SQL.created, parametersOf.created(id, created)).length > 0);
  }

  seen(id: string, seen: SeenVideo): Promise<void> {
    return this.#run(SQL.seen, parametersOf.seen(id, seen));
  }

  list(list: VideoList): Promise<StoredVideo[]> {
    return Promise.resolve(this.#videos(list.isAscending ? SQL.ascending : SQL.descending, parametersOf.list(list)));
  }

  remove(id: string): Promise<void> {
    return this.#run(SQL.remove, [id]);
  }

  deleteExpired(at: number): Promise<void> {
    return this.#run(SQL.deleteExpired, [at]);
  }

  #videos(statement: string, parameters: SQLQueryBindings[]): StoredVideo[] {
    return this.#rows<VideoRow>(statement, parameters).map(toStoredVideo);
  }

  #rows<Row>(statement: string, parameters: SQLQueryBindings[]): Row[] {
    return this.#database.query<Row, SQLQueryBindings[]>(statement).all(...parameters);
  }

  #run(statement: string, parameters: SQLQueryBindings[]): Promise<void> {
    this.#database.query(statement).run(...parameters);
    return Promise.resolve();
  }
}
