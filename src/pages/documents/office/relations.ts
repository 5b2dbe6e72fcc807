import type { Archive } from "./archive.ts";
import { readXml } from "./xml.ts";

/** The parts and addresses that a part of an Office document names, by their ids: `ppt/slides/slide1.xml`. Other documents' stay as they are. */
export function relationsOf(archive: Archive, part: string): ReadonlyMap<string, { type: string; target: string }> {
  const found = new Map<string, { type: string; target: string }>();
  const [folder, file] = splitPath(part);
  readXml(archive.text(`${folder}_rels/${file}.rels`) ?? "", {
    open(name, { Id: id, Type: type = "", Target: target = "", TargetMode: mode }) {
      if (name !== "Relationship" || id === undefined) return;
      found.set(id, {
        type: type.split("/").at(-1) ?? "",
        target: mode === "External" ? target : resolve(folder, target),
      });
    },
  });
  return found;
}

/** The folder with its slash, and the file. */
function splitPath(part: string): [string, string] {
  const end = part.lastIndexOf("/") + 1;
  return [part.slice(0, end), part.slice(end)];
}

/** The name in the archive of what a part in `folder` calls `target`. */
export function resolve(folder: string, target: string): string {
  const path = URL.parse(target, `http://archive/${folder}`)?.pathname.slice(1) ?? target;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
