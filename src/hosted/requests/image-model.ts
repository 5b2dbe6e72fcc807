/** The models for images of a request. */
export interface ImageModel {
  /** The id by which the gateway's tool calls it. */
  id: string;
  /** The provider's name of it. */
  model: string;
  /** The same for edits; undefined if there is none. */
  editId: string | undefined;
}
