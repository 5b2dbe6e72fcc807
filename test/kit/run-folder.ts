/** A folder that the processes of one `npm test` share, and that is removed with its end; undefined for a single file. */
export const runFolder = process.env["TOLLGATE_TEST_RUN_FOLDER"];
