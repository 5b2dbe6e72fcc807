/** The key of a tag of an organisation. */
export interface TagPlace {
  /** The id of the organisation. */
  organisation: string;
  key: string;
}

/** The values that the tags of organisations have had. */
export interface TagValueStore {
  /** Adds a value unless there are `valuesMax` already, and resolves to all. */
  add(place: TagPlace, value: string, valuesMax: number): Promise<ReadonlySet<string>>;
}
