import { type ObjectReference, objectOf, ReferenceList } from "../../core/index.ts";
import type { ImagesBody } from "./bound.ts";

/** The stored files among the input images. */
export function imageReferences(body: ImagesBody): readonly ObjectReference[] {
  const list = new ReferenceList();
  for (const name of ["image", "images", "mask"] as const) {
    const value: unknown = body[name];
    if (Array.isArray(value)) value.forEach((image, index) => addImage(list, image, `${name}.${index}`));
    else addImage(list, value, name);
  }
  return list.all;
}

function addImage(list: ReferenceList, image: unknown, param: string): void {
  const object = objectOf(image);
  if (object === undefined) list.addUrl(image, param);
  else list.addPart(object, param);
}
