/** A promise about speed that a run keeps or not. */
export interface Bar {
  promise: string;
  measured: string;
  kept: boolean;
}
