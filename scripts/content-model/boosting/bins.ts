/** A matrix by columns, with each value replaced by the number of its bin. */
export interface BinnedColumns {
  readonly bins: readonly Uint8Array[];
  /** By column: a value is in the first bin whose edge it doesn't exceed. */
  readonly edges: readonly Float64Array[];
}

const sampleSize = 40_000;

/** Splits each column into at most `binsMax` bins of about the same number of values. */
export function binColumns(columns: readonly Float32Array[], binsMax: number): BinnedColumns {
  const edges = columns.map((column) => findEdges(column, binsMax));
  return { edges, bins: columns.map((column, index) => binColumn(column, edges[index] ?? new Float64Array())) };
}

/** Edges are halfway between two values that occur, so that rounding them changes nothing. */
function findEdges(column: Float32Array, binsMax: number): Float64Array {
  const step = Math.max(1, Math.floor(column.length / sampleSize));
  const sample = column.filter((_, index) => index % step === 0).toSorted();
  const values = [...new Set(sample)];
  const between = (index: number): number => ((values[index] ?? 0) + (values[index + 1] ?? 0)) / 2;
  if (values.length <= binsMax) return Float64Array.from(values.slice(1), (_, index) => between(index));
  const edges: number[] = [];
  const positions = new Map(values.map((value, index) => [value, index]));
  for (let part = 1; part < binsMax; part += 1) {
    const at = positions.get(sample[Math.floor((part * sample.length) / binsMax)] ?? 0) ?? 0;
    const edge = between(Math.min(at, values.length - 2));
    if (edge > (edges.at(-1) ?? -Infinity)) edges.push(edge);
  }
  return Float64Array.from(edges);
}

function binColumn(column: Float32Array, edges: Float64Array): Uint8Array {
  return Uint8Array.from(column, (value) => {
    let low = 0;
    let high = edges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (value > (edges[middle] ?? 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  });
}
