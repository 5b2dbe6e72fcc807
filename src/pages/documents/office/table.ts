/** Cells of one document; each counts as often as it is repeated. */
const cellsMax = 100_000;

/** Characters of all cells: a long text may stand in each of them. */
const charactersMax = 16 * 1024 * 1024;

/** Columns of a table. */
const columnsMax = 1_000;

/** The room that the tables of a document still have. */
export class TableRoom {
  /** Whether cells were left out. */
  isCut = false;
  #cells = cellsMax;
  #characters = charactersMax;

  get isFull(): boolean {
    return this.#cells === 0 || this.#characters === 0;
  }

  /** Takes the room of `times` equal parts, or of as many as there is room for, and returns their number. */
  take(times: number, { cells, characters }: { cells: number; characters: number }): number {
    const most = Math.min(Math.floor(this.#cells / cells), Math.floor(this.#characters / Math.max(characters, 1)));
    const count = Math.min(times, most);
    if (count < times) this.isCut = true;
    this.#cells -= count * cells;
    this.#characters -= count * characters;
    return count;
  }
}

/** A table that is written cell by cell. Empty cells at the ends of rows and empty rows at the end are left out. */
export class Table {
  readonly #room: TableRoom;
  readonly #rows: string[][] = [];
  #row: string[] = [];
  /** Empty cells and rows that count only if others follow. */
  #emptyCells = 0;
  #emptyRows = 0;

  constructor(room: TableRoom) {
    this.#room = room;
  }

  /** A cell of the current row, `times` times. */
  cell(content: string, times = 1): void {
    if (content === "") {
      this.#emptyCells += times;
      return;
    }
    this.#add("", this.#emptyCells);
    this.#add(content, times);
    this.#emptyCells = 0;
  }

  endRow(times = 1): void {
    const row = this.#row;
    this.#row = [];
    this.#emptyCells = 0;
    if (row.length === 0) {
      this.#emptyRows += times;
      return;
    }
    // One empty row divides two tables; more say nothing.
    if (this.#emptyRows > 0 && this.#rows.length > 0) this.#rows.push([]);
    this.#emptyRows = 0;
    const characters = row.reduce((sum, cell) => sum + cell.length, 0);
    const copies = this.#room.take(times - 1, { cells: row.length, characters });
    for (let copy = 0; copy <= copies; copy += 1) this.#rows.push(row);
  }

  /** The first row has as many cells as the widest, others may have fewer. */
  get rows(): string[][] {
    const [header, ...rows] = this.#rows;
    if (header === undefined) return [];
    const width = this.#rows.reduce((most, row) => Math.max(most, row.length), 0);
    return [[...header, ...Array.from({ length: width - header.length }, () => "")], ...rows];
  }

  #add(content: string, times: number): void {
    const count = Math.min(times, columnsMax - this.#row.length);
    if (count < times) this.#room.isCut = true;
    const taken = this.#room.take(count, { cells: 1, characters: content.length });
    for (let index = 0; index < taken; index += 1) this.#row.push(content);
  }
}

/** The first row is the header. "" for a table without content. */
export function htmlTable([header, ...rows]: readonly (readonly string[])[]): string {
  if (header === undefined) return "";
  const body = rows.map((row) => htmlRow(row, "td")).join("");
  return `<table><thead>${htmlRow(header, "th")}</thead><tbody>${body}</tbody></table>`;
}

function htmlRow(cells: readonly string[], tag: "th" | "td"): string {
  return `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
}

/** The warning of a document with more cells than were read. */
export function cutWarning(room: TableRoom): { warning?: string } {
  return room.isCut ? { warning: `not all cells were read: a document may have ${cellsMax} cells` } : {};
}
