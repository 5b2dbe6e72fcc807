import type { Statements } from "../../../storage/index.ts";
import type { FileKey, FileQuota, FileStore, UploadedFile, UploadPlace } from "../file-store.ts";
import { type FileRow, fileStatementsWith, NEVER, toFileKey } from "./files.ts";

const SQL = fileStatementsWith((index) => `$${index}`);

/** Uploaded files on Postgres. The functions are in the migrations. */
export class PostgresFileStore implements FileStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async reserve({ id, provider, owner, bytes, until }: UploadPlace, quota: FileQuota, at: number): Promise<boolean> {
    const [row] = await this.#statements.run<{ done: boolean }>(
      "SELECT reserve_upload($1, $2, $3, $4, $5, $6, $7, $8) AS done",
      [id, provider, owner, bytes, until, at, quota.filesMax, quota.bytesMax],
    );
    return row?.done === true;
  }

  async cancel({ id, provider, owner }: UploadPlace): Promise<void> {
    await this.#statements.run(SQL.cancel, [id, provider, owner]);
  }

  async record(place: UploadPlace, file: UploadedFile, at: number): Promise<boolean> {
    const { id, provider, owner, keyId, bytes, expiresAt = NEVER } = file;
    const [row] = await this.#statements.run<{ done: boolean }>(
      "SELECT record_upload($1, $2, $3, $4, $5, $6, $7, $8) AS done",
      [place.id, id, provider, owner, keyId, bytes, expiresAt, at],
    );
    return row?.done === true;
  }

  async filesOf(provider: string, owner: string, at: number): Promise<FileKey[]> {
    return (await this.#statements.run<FileRow>(SQL.filesOf, [owner, provider, at])).map(toFileKey);
  }

  async remove(provider: string, id: string): Promise<void> {
    await this.#statements.run(SQL.remove, [id, provider]);
  }
}
