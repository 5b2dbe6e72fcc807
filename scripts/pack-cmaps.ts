/**
 * Packs the character maps that PDFs in Chinese, Japanese and Korean name instead of containing them:
 *
 *   npm pack pdfjs-dist@VERSION, unpack it, and then: bun scripts/pack-cmaps.ts FOLDER/cmaps
 *
 * Those that the standard names (ISO 32000, 9.7.5.2), and those from their glyphs to Unicode. The version is that of the PDF reader.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";

const [folder = "."] = process.argv.slice(2);

const BY_DIRECTION = [
  "GB-EUC GBpc-EUC GBK-EUC GBKp-EUC GBK2K UniGB-UCS2 UniGB-UTF16",
  "B5pc HKscs-B5 ETen-B5 ETenms-B5 CNS-EUC UniCNS-UCS2 UniCNS-UTF16",
  "90ms-RKSJ 90msp-RKSJ 90pv-RKSJ Add-RKSJ EUC Ext-RKSJ UniJIS-UCS2 UniJIS-UCS2-HW UniJIS-UTF16 UniJIS2004-UTF16",
  "KSC-EUC KSCms-UHC KSCms-UHC-HW KSCpc-EUC UniKS-UCS2 UniKS-UTF16",
].flatMap((names) => names.split(" "));

const names = [
  ...BY_DIRECTION.flatMap((name) => [`${name}-H`, `${name}-V`]),
  "83pv-RKSJ-H",
  "H",
  "V",
  ...["GB1", "CNS1", "Japan1", "Korea1"].map((collection) => `Adobe-${collection}-UCS2`),
];

const maps = names.map((name) => ({ name, bytes: readFileSync(join(folder, `${name}.bcmap`)) }));
const index = JSON.stringify(maps.map(({ name, bytes }) => [name, bytes.length]));
const packed = brotliCompressSync(Buffer.concat([Buffer.from(`${index}\n`), ...maps.map(({ bytes }) => bytes)]));
writeFileSync(join(import.meta.dirname, "../src/pages/documents/pdf/cmaps.bin"), packed);
console.log(`${maps.length} maps, ${packed.length} bytes`);
