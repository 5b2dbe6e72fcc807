import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { measureSound } from "../../src/audio/index.ts";
import { UploadCheck } from "../upstream/upload-check.ts";
import { makeSound, soundBytes, uploadForm } from "./upload.ts";

test("the uploaded file is audio of 20 MB with a measurable duration", async () => {
  const sound = makeSound();
  expect(sound.length).toBe(soundBytes);
  const seconds = (soundBytes - 44) / 32_000;
  expect(await measureSound(new Blob([sound]).stream(), { size: sound.length })).toBe(Math.round(seconds * 1_000));
});

test("the upstream finds it in the form", () => {
  const sound = makeSound();
  const { body } = uploadForm("some-model", sound);
  const check = new UploadCheck({ bytes: sound.length, checksum: crc32(sound) });
  check.add(body);
  expect(check.problem()).toBeNull();
  expect(body.subarray(-200).toString()).toContain('name="model"\r\n\r\nsome-model\r\n--');
});
