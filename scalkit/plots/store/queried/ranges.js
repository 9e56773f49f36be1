// Parquet files of this site, read by ranges of bytes. A server that knows no ranges, as Python's, sends the whole file once.
import { parquetMetadataAsync, parquetReadObjects } from "./hyparquet/index.js";

const TAIL = 1 << 16;

async function answer(url, range) {
  let got;
  try {
    got = await fetch(url, { headers: { Range: `bytes=${range}` } });
  } catch {
    throw new Error(`${url} cannot be reached; is the server running?`);
  }
  if (!got.ok) throw new Error(`${url} cannot be read: the server says ${got.status}.`);
  try {
    return { got, bytes: await got.arrayBuffer() };
  } catch {
    throw new Error(`${url} broke off; load the page again.`);
  }
}

// What hyparquet reads from: the length of a file, and pieces of it.
async function opened(url) {
  const { got, bytes } = await answer(url, `-${TAIL}`);
  if (got.status === 200) return { byteLength: bytes.byteLength, slice: (start, end) => bytes.slice(start, end) };
  const byteLength = Number(/\/(\d+)$/.exec(got.headers.get("Content-Range") ?? "")?.[1]);
  if (!byteLength) throw new Error(`${url} cannot be read: the server does not say how long it is.`);
  const from = byteLength - bytes.byteLength;
  const slice = async (start, end = byteLength) => {
    if (start >= from) return bytes.slice(start - from, end - from);
    const piece = await answer(url, `${start}-${end - 1}`);
    const found = piece.got.status === 200 ? piece.bytes.slice(start, end) : piece.bytes;
    if (found.byteLength !== end - start) throw new Error(`${url} broke off, or was replaced; load the page again.`);
    return found;
  };
  return { byteLength, slice };
}

const files = new Map();

async function fileOf(url) {
  const file = await opened(url);
  return { file, metadata: await parquetMetadataAsync(file, { initialFetchSize: TAIL }) };
}

// The rows of a file that pass a filter; only the groups of rows that may hold some of them are fetched.
export async function rows(url, filter) {
  if (!files.has(url)) files.set(url, fileOf(url));
  try {
    const { file, metadata } = await files.get(url);
    const found = await parquetReadObjects({ file, metadata, filter });
    return found.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value])));
  } catch (error) {
    files.delete(url);
    throw error;
  }
}
