// The questions of a survey: the answer becomes a report here, and only the report is sent.
import { Refusal, binOf, draw, randomName, readTable, rowOf } from "./report.js";
import { openMemory } from "./memory.js";

const QUIET = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" };
const TRIES = 6;
const WORDS = {
  closed: "This question is closed: it takes no more reports.",
  "not-open-yet": "This question is not open yet: nothing was counted.",
  "unknown-collection": "This question does not exist any more.",
  "other-mechanism":
    "The question was changed after this device answered it. What was reported stays; a second report could tell more, so none is made.",
  "token-not-valid": "The link that was given to you is not valid for this question: nothing was counted.",
};
/** What the link of a person says: NAME.token=ID.TAG and NAME.table=SHA256. It is never sent as part of an address. */
const LINK = new URLSearchParams(location.hash.slice(1));

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

class Question {
  constructor(section, memory) {
    this.section = section;
    this.memory = memory;
    this.name = section.dataset.collection;
    this.address = `${document.body.dataset.api}/collections/${encodeURIComponent(this.name)}`;
    this.tables = new Map();
  }

  part(kind) {
    return this.section.querySelector(`[data-part="${kind}"]`);
  }

  say(words, kind = "") {
    const said = this.part("said");
    said.textContent = words;
    said.className = `said ${kind}`;
  }

  async start() {
    const kept = await this.memory.find(this.name);
    if (kept) return this.repeat(kept);
    if (this.section.dataset.state !== "open") return;
    const answer = await fetch(this.address, { ...QUIET, cache: "no-cache" });
    if (!answer.ok) throw new Refusal("The description of this question cannot be had.");
    this.description = await answer.json();
    if (await this.spent()) return this.say(this.section.dataset.spent, "good");
    if (this.description.mechanisms.length === 1) await this.table(this.description.mechanisms[0]);
    for (const fields of this.section.querySelectorAll("fieldset")) fields.disabled = false;
    const button = this.part("answer");
    button.addEventListener("click", () => this.attempt(() => this.answer()));
    this.section.addEventListener("keydown", (event) => this.press(event));
    button.hidden = false;
  }

  /** Tell whether this device has reported in as many earlier rounds as it may. */
  async spent() {
    const question = this.name.split(".").pop();
    const rounds = Number(this.description.repeat.split("=")[1] ?? 1);
    const earlier = this.description.earlier.map((survey) => this.memory.find(`${survey}.${question}`));
    return (await Promise.all(earlier)).filter(Boolean).length >= rounds;
  }

  /** Draw a report for a row; by the rule "memo" for all rows at once, so that none is told apart. */
  async output({ rows, bits }, row, digest) {
    if (!this.description.repeat.startsWith("memo")) return draw(rows[row], bits);
    const drawn = rows.map((weights) => draw(weights, bits));
    const [survey, question] = this.name.split(".");
    // Of this question in all its rounds; another one with the same table has noise of its own.
    const key = `memo ${this.description.earlier[0] ?? survey}.${question} ${digest}`;
    return (await this.memory.keepFirst(key, drawn))[row];
  }

  /** Fetch the whole table of a mechanism: to fetch a row of it would tell the answer. */
  async table({ digest, outputs }) {
    if (!this.tables.has(digest)) {
      const answer = await fetch(`${document.body.dataset.api}/mechanisms/${digest}`, QUIET);
      if (!answer.ok) throw new Refusal("The table of this question cannot be had.");
      this.tables.set(digest, await readTable(await answer.arrayBuffer(), digest, outputs));
    }
    return this.tables.get(digest);
  }

  chosen(part) {
    const fields = this.part(part);
    if (!fields) return undefined;
    const field = fields.querySelector("input:checked, select");
    if (!field || field.value === "") {
      fields.querySelector("input, select").focus();
      throw new Refusal(fields.dataset.missing);
    }
    return field.value;
  }

  mechanism() {
    const group = this.chosen("group");
    const level = this.chosen("level");
    const own = LINK.get(`${this.name}.table`);
    if (this.description.panel && own) return { digest: own };
    const found = this.description.mechanisms.filter(
      (each) =>
        (group === undefined || each.group === group) &&
        (level === undefined || each.level === level),
    );
    if (found.length !== 1) throw new Refusal(this.section.dataset.whose);
    return found[0];
  }

  /** Return the id of the report and its tag, where a token is needed. */
  token() {
    if (this.description.tokens !== "signed") return [];
    const token = LINK.get(`${this.name}.token`);
    if (!token) throw new Refusal(this.section.dataset.token);
    return token.split(".");
  }

  /** Return the row of the table that belongs to the answer. */
  row({ inputs }) {
    const { edges, values } = this.description;
    const number = this.part("number");
    if (number) return rowOf(inputs, values[binOf(edges, this.number(number))]);
    const value = JSON.parse(this.chosen("values"));
    const profile = this.chosen("profile");
    return rowOf(inputs, profile === undefined ? value : [JSON.parse(profile), value]);
  }

  number(fields) {
    const field = fields.querySelector("input");
    if (Number.isFinite(field.valueAsNumber)) return field.valueAsNumber;
    field.focus();
    throw new Refusal(fields.dataset.missing);
  }

  async answer() {
    const mechanism = this.mechanism();
    const [id = randomName(), tag] = this.token();
    this.say("The report is drawn …");
    const table = await this.table(mechanism);
    const report = {
      batch: randomName(),
      id,
      tag,
      mechanism: mechanism.digest,
      output: await this.output(table, this.row(table), mechanism.digest),
      sent: false,
    };
    await this.repeat(await this.memory.keepFirst(this.name, report));
  }

  /** Show the report that is kept, forget the answer, and send the report if nobody has it yet. */
  async repeat(report) {
    for (const field of this.section.querySelectorAll("input, select")) {
      field.checked = false;
      if (field.type !== "radio") field.value = "";
    }
    for (const fields of this.section.querySelectorAll("fieldset")) fields.disabled = true;
    const { batch, mechanism, id, tag, output } = report;
    const tokens = tag ? [tag] : undefined;
    const body = JSON.stringify({ batch, mechanism, reports: [[id, output]], tokens });
    this.part("report").textContent = body;
    this.part("drawn").hidden = false;
    const button = this.part("answer");
    button.hidden = false;
    const again = button.cloneNode();
    again.textContent = "Send the same report again";
    again.classList.add("again");
    again.addEventListener("click", () => this.attempt(() => this.send(body, report)));
    button.replaceWith(again);
    if (report.sent) this.say("This device has answered. What it reported stays for ever.", "good");
    else await this.send(body, report);
  }

  async send(body, report) {
    for (let tried = 1; ; tried += 1) {
      const answer = await fetch(`${this.address}/reports`, {
        ...QUIET,
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
        keepalive: true,
      }).catch(() => null);
      if (answer?.ok) return this.stored(await answer.json(), report);
      if (answer && answer.status < 500 && answer.status !== 429) return this.refused(answer);
      if (tried === TRIES)
        throw new Refusal("The collector cannot be reached. The report is kept on this device: send it again later.");
      this.say("The collector cannot be reached: the same report is sent again …");
      await pause(Math.max(300 * 2 ** tried, 1000 * Number(answer?.headers.get("Retry-After") ?? 0)));
    }
  }

  async stored({ rejected }, report) {
    if (rejected?.length) {
      const kind = rejected[0].type.split("/").pop();
      throw new Refusal(WORDS[kind] ?? "The collector did not take this report.");
    }
    await this.memory.noteSent(this.name, report);
    this.say("Sent, and stored. Thank you: your answer stayed here.", "good");
  }

  async refused(answer) {
    const problem = await answer.json().catch(() => ({}));
    const kind = String(problem.type ?? "").split("/").pop();
    throw new Refusal(WORDS[kind] ?? problem.detail ?? problem.title ?? "The collector refused this report.");
  }

  async attempt(work) {
    const button = this.part("answer");
    button.disabled = true;
    try {
      await work();
    } catch (error) {
      this.say(error instanceof Refusal ? error.message : "Something failed in this browser. Load the page again.", "bad");
    } finally {
      button.disabled = false;
      this.part("answer").disabled = false;
    }
  }

  /** Up and down in a map of places; Enter answers in a field for numbers. */
  press(event) {
    if (event.key === "Enter" && event.target.matches("input")) this.part("answer").click();
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const cell = event.target.closest("td");
    if (!step || !cell) return;
    event.preventDefault();
    let line = cell.parentNode;
    do line = step > 0 ? line.nextElementSibling : line.previousElementSibling;
    while (line && !line.children[cell.cellIndex]?.querySelector("input"));
    const next = line?.children[cell.cellIndex].querySelector("input");
    if (next) {
      next.checked = true;
      next.focus();
    }
  }
}

const sections = [...document.querySelectorAll("[data-collection]")];

async function begin() {
  let memory;
  if (isSecureContext && globalThis.crypto?.subtle) memory = await openMemory().catch(() => undefined);
  const why = isSecureContext
    ? "This browser keeps nothing for this page, so it could not repeat its first report: questions cannot be answered here."
    : "This page was not loaded over a secure connection (https), so the browser cannot check the table: questions cannot be answered here.";
  for (const section of sections) {
    const question = new Question(section, memory);
    if (memory) await question.attempt(() => question.start());
    else question.say(why, "bad");
  }
}

begin();
