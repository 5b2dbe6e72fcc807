/** The console in a real Chromium: its figures, its keys, its policy, and axe on each page. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { Locator, Page } from "playwright-core";
import { begin, ended, linesOf } from "../batches/batch-scene.ts";
import { hasChromium } from "../kit/index.ts";
import { axeViolations, type ConsoleScene, loaded, openConsole, signIn } from "./console-scene.ts";

interface Sums {
  requests: number;
  credits: number;
  input_tokens: number;
}

/** Names that are markup, formulas and too long. */
const hostile = `<img src=x onerror=alert(1)>=1+1${"x".repeat(40)}`;

describe.skipIf(!hasChromium)("the console", () => {
  let scene: ConsoleScene;
  let callId: string;
  beforeAll(async () => {
    scene = await openConsole();
    const { gateway } = scene.rig;
    const tokens = [await gateway.token({ user: "ada" }), await gateway.token({ user: "grace" })];
    const models = ["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "mistral/mistral-small-latest"];
    for (const [index, token] of tokens.entries()) {
      for (const model of models.slice(index)) {
        const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "x-tollgate-session": hostile, "x-tollgate-end-user": hostile },
          body: JSON.stringify({ model, messages: [{ role: "user", content: `words:${7 * (index + 1)}` }] }),
        });
        expect(answer.status).toBe(200);
        callId = answer.headers.get("x-request-id") ?? "";
        await answer.text();
      }
    }
  }, 60_000);
  afterAll(() => scene.close());

  /** The machine-readable values of the figures within an element. */
  const valuesOf = async (place: Locator): Promise<(string | null)[]> => {
    const figures = await place.locator("data").all();
    return Promise.all(figures.map((figure) => figure.getAttribute("value")));
  };

  /** In both colours, and on the screen of a phone. */
  async function expectAxe(page: Page, place: string): Promise<void> {
    for (const [width, colorScheme] of [
      [1_280, "light"],
      [1_280, "dark"],
      [360, "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      expect({ place, width, colorScheme, broken: await axeViolations(page) }).toMatchObject({ broken: [] });
      expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    }
    await page.setViewportSize({ width: 1_280, height: 800 });
  }

  async function put(method: "POST" | "PATCH", path: string, body: object): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${scene.admin}` };
    const answer = await fetch(scene.rig.gateway.url + path, { method, headers, body: JSON.stringify(body) });
    return (await answer.json()) as Record<string, unknown>;
  }

  /** A token of a new user of an organisation with credits. */
  async function tokenIn(organisation: string, user: string): Promise<string> {
    await put("POST", "/admin/v1/organisations", { name: organisation });
    await put("POST", "/admin/v1/credits", { organisation, amount: 5, reason: "test" });
    await put("POST", "/admin/v1/users", { name: user, organisation });
    return String((await put("POST", "/admin/v1/tokens", { user }))["token"]);
  }

  test("has the API's figures on Spend, and its total in the last row", async () => {
    const page = await scene.open("/console/spend?group_by=user,model");
    interface Group extends Sums {
      user: string;
      model: string;
    }
    const { data, total } = await scene.api<{ data: Group[]; total: Sums }>("/admin/v1/usage?group_by=user,model");
    expect(data).toHaveLength(5);
    const rows = page.locator("tbody tr");
    expect(await rows.count()).toBe(5);
    for (const { user, model, credits, requests, input_tokens: input } of data) {
      const row = rows.filter({ hasText: user }).filter({ hasText: model });
      const values = await valuesOf(row);
      expect(values.slice(0, 4).map(Number)).toEqual([credits, requests, 0, input]);
    }
    const last = await valuesOf(page.locator("tfoot"));
    expect(last.slice(0, 2).map(Number)).toEqual([total.credits, total.requests]);
    await page.close();
  }, 60_000);

  test("opens a figure onto the calls that it consists of, and one of them onto its bill", async () => {
    const page = await scene.open("/console/spend?group_by=user");
    await page.locator("tbody tr", { hasText: "grace" }).locator("a").first().click();
    await page.waitForURL("**/console/requests?*user=grace*");
    await page.getByRole("heading", { name: "Requests", level: 1 }).waitFor();
    await page.waitForSelector("tbody tr a");
    const { data } = await scene.api<{ data: { id: string }[] }>("/admin/v1/generations?user=grace");
    expect(await page.locator("tbody tr a").count()).toBe(data.length);
    await page.locator("tbody tr a").first().click();
    await page.waitForURL(`**/console/requests/${data[0]?.id}`);
    await page.waitForSelector("tfoot data");
    const call = await scene.api<{ credits: number }>(`/admin/v1/generations/${data[0]?.id}`);
    expect((await valuesOf(page.locator("tfoot"))).map(Number)).toEqual([call.credits]);
    const lines = (await valuesOf(page.locator("tbody tr td:last-child"))).map((text) =>
      Math.round(Number(text) * 1e9),
    );
    expect(lines.reduce((sum, each) => sum + each, 0)).toBe(Math.round(call.credits * 1e9));
    await page.close();
  }, 60_000);

  test("shows the pace and the latest days on Overview, and nothing that needs attention", async () => {
    const page = await scene.open("/console");
    await page.waitForURL("**/console/overview");
    await page.waitForSelector("main tbody tr");
    const { total } = await scene.api<{ total: Sums }>("/admin/v1/usage");
    const figures = await valuesOf(page.getByRole("region", { name: "The last 30 days" }));
    expect(figures.map(Number)).toEqual([total.credits, total.requests]);
    await page.getByText("No alert is open").waitFor();
    await page.close();
  }, 60_000);

  test("is used by the keyboard alone", async () => {
    const page = await scene.open("/console/spend");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("requests");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/console/requests");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
    await page.keyboard.press("/");
    await page.keyboard.type(callId);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/console/requests/${callId}`);
    await loaded(page);
    await page.getByRole("button", { name: "admin" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
    await page.keyboard.press("Escape");
    await page.close();
  }, 60_000);

  test("shows calls while they end, those that match the filter", async () => {
    const page = await scene.open("/console/requests?user=ada");
    const tail = page.waitForResponse(
      (response) => response.headers()["content-type"]?.includes("event-stream") === true,
    );
    await page.getByRole("button", { name: "Live" }).click();
    await tail;
    for (const user of ["grace", "ada"]) {
      const token = await scene.rig.gateway.token({ user });
      const body = JSON.stringify({ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: user }] });
      const headers = { authorization: `Bearer ${token}` };
      await (await fetch(`${scene.rig.gateway.url}/v1/chat/completions`, { method: "POST", headers, body })).text();
    }
    await page.waitForSelector("tbody tr a");
    const rows = await page.locator("tbody tr").allInnerTexts();
    expect(rows.map((text) => text.includes("ada"))).toEqual([true]);
    await page.close();
  }, 60_000);

  test("breaks no rule of axe, on any page, light, dark and narrow", async () => {
    const places = [
      "/console/overview",
      "/console/spend",
      "/console/requests",
      `/console/requests/${callId}`,
      "/console/sign-in",
    ];
    for (const place of places) {
      const page = await scene.open(place);
      await expectAxe(page, place);
      await page.close();
    }
  }, 120_000);

  test("shows what the calls with a tag have cost, and leads from one of them to all", async () => {
    const { gateway } = scene.rig;
    const tim = await tokenIn("acme", "tim");
    await put("PATCH", "/admin/v1/organisations/acme", { tags: ["team"] });
    for (const team of ["search", "docs"]) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${tim}`, "x-tollgate-tags": `team=${team}` },
        body: JSON.stringify({ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "words:3" }] }),
      });
      expect(answer.status).toBe(200);
      await answer.text();
    }
    const page = await scene.open("/console/spend?group_by=tag:team");
    const { data } = await scene.api<{ data: (Sums & { "tag:team": string | null })[] }>(
      "/admin/v1/usage?group_by=tag:team",
    );
    expect(new Set(data.map((group) => group["tag:team"]))).toEqual(new Set(["docs", "search", null]));
    expect(await page.getByLabel("Group by").locator("option:checked").innerText()).toBe("Tag team");
    for (const group of data) {
      const row = page.locator("tbody tr", { hasText: group["tag:team"] ?? "No tag team" });
      expect(Number((await valuesOf(row))[0])).toBe(group.credits);
    }
    await expectAxe(page, "spend by tag");
    await page.locator("tbody tr", { hasText: "docs" }).getByRole("link").first().click();
    await page.waitForURL(/\/console\/requests\?/);
    expect(new URL(page.url()).searchParams.get("tag:team")).toBe("docs");
    // The address changes before the page does.
    await page.getByRole("heading", { name: "Requests", level: 1 }).waitFor();
    await page.waitForSelector('main[aria-busy="false"] tbody tr a');
    expect(await page.locator("tbody tr").count()).toBe(1);
    await page.locator("tbody tr a").first().click();
    await page.waitForURL(/\/console\/requests\/req_/);
    await page.getByRole("link", { name: "docs", exact: true }).press("Enter");
    await page.waitForURL((url) => url.searchParams.get("tag:team") === "docs");
    await page.close();
  }, 60_000);

  test("shows a batch as one story, to its owner and to a member who has made it", async () => {
    const { gateway } = scene.rig;
    const bea = await tokenIn("acme", "bea");
    const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: bea, maxRetries: 0 });
    const { id } = await begin(openai, linesOf(["one", "two", "three"], "openai/gpt-4o-mini"));
    await ended(openai, id);
    const path = "/admin/v1/generations?user=bea";
    const { data } = await scene.api<{ data: { id: string; parent_id: string; credits: number }[] }>(path);
    expect(data).toHaveLength(3);
    const [{ id: call, parent_id: parent } = { id: "", parent_id: "" }] = data;
    const jobs = await scene.open("/console/jobs");
    await jobs.getByRole("region", { name: "Batches of calls" }).getByRole("link", { name: parent }).press("Enter");
    await jobs.getByRole("heading", { name: "Series" }).waitFor();
    await jobs.close();
    const page = await scene.open(`/console/requests/${call}`);
    await page.getByRole("link", { name: parent }).press("Enter");
    await page.getByRole("heading", { name: "Series" }).waitFor();
    await loaded(page);
    const sumOf = async (shown: Page): Promise<number[]> => {
      const values = await valuesOf(shown.locator("main p", { hasText: "calls," }));
      return values.map(Number);
    };
    const credits = data.reduce((total, each) => total + Math.round(each.credits * 1e9), 0) / 1e9;
    expect(await sumOf(page)).toEqual([3, 0, credits]);
    expect(await page.locator("tbody tr").count()).toBe(3);
    await expectAxe(page, "series");
    const series = page.url();
    await page.close();
    const context = await scene.browser.newContext();
    const own = await context.newPage();
    await own.goto(`${gateway.url}/console/requests/${call}`);
    await signIn(own, bea);
    await own.getByRole("link", { name: parent }).press("Enter");
    await own.getByRole("heading", { name: "Series" }).waitFor();
    await loaded(own);
    expect(await sumOf(own)).toEqual([3, 0, credits]);
    // A member sees no call of another user, even if the page's address names that user.
    await own.goto(series.replace("user=bea", "user=ada"));
    await loaded(own);
    expect(await sumOf(own)).toEqual([3, 0, credits]);
    expect(await own.getByRole("navigation", { name: "Pages" }).getByRole("link").allInnerTexts()).toEqual([
      "Overview",
      "Spend",
      "Accounts",
      "Requests",
      "Models",
      "Playground",
    ]);
    for (const place of ["overview", "spend", "requests", "accounts", "models"]) {
      await own.goto(`${gateway.url}/console/${place}`);
      await loaded(own);
      expect(await own.getByRole("alert").count()).toBe(0);
      expect(await own.locator("main").innerText()).not.toMatch(/\b(?:admin|grace|tim)\b/);
      if (place === "overview" || place === "accounts") await expectAxe(own, `${place} of a member`);
    }
    await context.close();
  }, 90_000);

  test("keeps the place that somebody wanted until they have signed in, and leaves at a sign-out", async () => {
    const member = await scene.rig.gateway.token({ user: "ada" });
    const context = await scene.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${scene.rig.gateway.url}/console/spend?group_by=model&metric=requests`);
    await page.getByLabel("Token", { exact: true }).fill("tg_wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    expect(await page.getByRole("alert").innerText()).toMatch(/req_[0-9a-z]+/);
    await signIn(page, member);
    expect(page.url()).toEndWith("/console/spend?group_by=model&metric=requests");
    expect(await page.evaluate<string>("document.cookie")).toBe("");
    expect(await page.evaluate<string>("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toContain("tg_");
    // A member sees their own calls: those of ada alone.
    const groups = await page.getByLabel("Group by").locator("option").allInnerTexts();
    expect(groups).not.toContain("User");
    const { total } = await scene.api<{ total: Sums }>("/admin/v1/usage?user=ada");
    await page.waitForSelector("tfoot data");
    expect(Number((await valuesOf(page.locator("tfoot")))[0])).toBe(total.requests);
    await page.getByRole("button", { name: "ada" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByLabel("Token", { exact: true }).waitFor();
    await page.goto(`${scene.rig.gateway.url}/console/spend`);
    await page.getByLabel("Token", { exact: true }).waitFor();
    await context.close();
  }, 60_000);

  test("says which request failed, and tries again", async () => {
    const page = await scene.open("/console/requests/req_0000000000000000000000000");
    const alert = page.getByRole("alert");
    expect(await alert.innerText()).toMatch(/Request req_[0-9a-z]+/);
    await alert.getByRole("button", { name: "Try again" }).click();
    await alert.waitFor();
    await page.close();
    scene.mishaps.splice(0, scene.mishaps.length, ...scene.mishaps.filter((text) => !text.includes("404")));
  }, 60_000);

  test("loads Spend with less than 250 kB of script", async () => {
    const page = await scene.context.newPage();
    let bytes = 0;
    page.on("response", async (response) => {
      if (response.request().resourceType() !== "script") return;
      const name = new URL(response.url()).pathname;
      bytes += Bun.file(`${import.meta.dir}/../../console/dist/${name.slice("/console/".length)}.gz`).size;
    });
    await page.goto(`${scene.rig.gateway.url}/console/spend`);
    await loaded(page);
    expect(bytes).toBeWithin(50_000, 250_000);
    await page.close();
  }, 60_000);

  test("never broke its policy, threw, or asked another host", () => {
    expect(scene.mishaps).toEqual([]);
  });
});
