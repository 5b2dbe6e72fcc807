/** One of our paths that another one may mean. */
export interface MeantPath {
  path: string;
  /** The id of the model, as it stands in the other path: possibly escaped. */
  model?: string;
}
