-- Everything that is kept. No address, no agent, no time finer than a day.

CREATE TABLE collection (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given again: tables of ids are named after it
    name TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed')),
    settings TEXT NOT NULL,
    repeated INTEGER NOT NULL DEFAULT 0,
    conflicts INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0
);

-- Several collections may use the same mechanism.
CREATE TABLE file (
    sha256 TEXT PRIMARY KEY,
    content BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE mechanism (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL REFERENCES collection (id),
    sha256 TEXT NOT NULL REFERENCES file (sha256),
    outputs INTEGER NOT NULL,
    UNIQUE (collection, sha256)
);

-- Reports that wait to be folded: 16 bytes of id and the output, one after the other.
CREATE TABLE journal (
    seq INTEGER PRIMARY KEY,
    mechanism INTEGER NOT NULL,
    day TEXT NOT NULL,
    body BLOB NOT NULL
);

CREATE TABLE counts (
    mechanism INTEGER NOT NULL REFERENCES mechanism (id),
    day TEXT NOT NULL,
    output INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (mechanism, day, output)
) WITHOUT ROWID;

CREATE TABLE token (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE
) WITHOUT ROWID;

CREATE TABLE trail (
    seq INTEGER PRIMARY KEY,
    day TEXT NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    collection TEXT NOT NULL
);
