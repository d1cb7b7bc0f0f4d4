// What this device has reported: the first report of each collection, for ever. Never an answer.

const ended = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Open the memory of this device; it throws where the browser keeps nothing. */
export async function openMemory() {
  const request = indexedDB.open("liftlock", 1);
  request.onupgradeneeded = () => request.result.createObjectStore("reports");
  const database = await ended(request);
  const begin = () => database.transaction("reports", "readwrite", { durability: "strict" });

  /** Write a report, unless there is one already; return the one that is kept, once it is on disk. */
  const keep = async (collection, report, replace) => {
    const transaction = begin();
    const done = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    const reports = transaction.objectStore("reports");
    const before = await ended(reports.get(collection));
    const kept = before && !replace ? before : report;
    reports.put(kept, collection);
    await done;
    return kept;
  };

  return {
    find: (collection) => ended(begin().objectStore("reports").get(collection)),
    keepFirst: (collection, report) => keep(collection, report, false),
    noteSent: (collection, report) => keep(collection, { ...report, sent: true }, true),
  };
}
