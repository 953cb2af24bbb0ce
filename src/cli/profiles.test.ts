import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import {
  configFolder,
  freeProfileName,
  loadProfiles,
  type Profile,
  profileNameFor,
  profilesFile,
  removeProfile,
  saveProfile,
  useProfile,
} from "./profiles.ts";

const ann: Profile = {
  url: "https://rooms.example.com",
  token: "bp_secret",
  workspace_id: "ws_1",
  workspace_name: "Acme",
  participant_id: "usr_ann",
  name: "Ann",
};
const bob: Profile = { ...ann, participant_id: "usr_bob", name: "Bob" };

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "profiles-")), "bullpen");
  onTestFinished(() => rmSync(join(folder, ".."), { recursive: true }));
});

it("keeps them in the user's config folder", () => {
  expect(configFolder({ XDG_CONFIG_HOME: "/x", HOME: "/h" }, "linux")).toBe("/x/bullpen");
  expect(configFolder({ HOME: "/h" }, "linux")).toBe("/h/.config/bullpen");
  expect(configFolder({ HOME: "/h", XDG_CONFIG_HOME: "" }, "darwin")).toBe("/h/.config/bullpen");
  expect(configFolder({ APPDATA: "/a" }, "win32")).toBe(join("/a", "bullpen"));
});

it("lets nobody else read them, also where the folder was open before", () => {
  saveProfile("acme", ann, { folder });
  chmodSync(folder, 0o755);
  saveProfile("acme", ann, { folder });
  expect(statSync(profilesFile(folder)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

it("writes the file whole and leaves nothing beside it", () => {
  saveProfile("acme", ann, { folder });
  saveProfile("other", bob, { folder });
  expect(readdirSync(folder)).toEqual(["profiles.json"]);
  expect(loadProfiles(folder)).toEqual({ current: "other", profiles: { acme: ann, other: bob } });
});

it("can leave the current one as it is", () => {
  saveProfile("acme", ann, { folder, keepCurrent: true });
  saveProfile("demo", bob, { folder, keepCurrent: true });
  expect(loadProfiles(folder).current).toBe("acme");
});

it("uses, removes, and names what there is when one is not there", () => {
  saveProfile("acme", ann, { folder });
  saveProfile("other", bob, { folder });
  useProfile("acme", folder);
  expect(loadProfiles(folder).current).toBe("acme");
  removeProfile("acme", folder);
  expect(loadProfiles(folder)).toEqual({ profiles: { other: bob } });
  expect(() => useProfile("toString", folder)).toThrow("There is no profile toString.");
});

it("says so when the file is broken, and does not touch it", () => {
  saveProfile("acme", ann, { folder });
  writeFileSync(profilesFile(folder), "{");
  expect(() => saveProfile("acme", ann, { folder })).toThrow("cannot be read as profiles");
  expect(readFileSync(profilesFile(folder), "utf8")).toBe("{");
});

it.each([
  ["Acme & Söhne", "acme-söhne"],
  ["  ", "default"],
  ["__proto__", "proto"],
])("names a profile after its workspace: %j", (name, slug) => {
  expect(profileNameFor(name)).toBe(slug);
});

it("takes a free name, or that of the same participant", () => {
  saveProfile("acme", ann, { folder });
  expect(freeProfileName("acme", ann, folder)).toBe("acme");
  expect(freeProfileName("acme", bob, folder)).toBe("acme-2");
});
