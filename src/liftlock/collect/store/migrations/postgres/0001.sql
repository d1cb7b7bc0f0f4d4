-- Everything that is kept. No address, no agent, no time finer than a day.

CREATE TABLE meta (
    version integer NOT NULL
);

CREATE TABLE collection (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,  -- tables of ids are named after it
    name text NOT NULL UNIQUE,
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed')),
    settings text NOT NULL,
    repeated bigint NOT NULL DEFAULT 0,
    conflicts bigint NOT NULL DEFAULT 0,
    revision bigint NOT NULL DEFAULT 0
);

-- Several collections may use the same mechanism.
CREATE TABLE file (
    sha256 text PRIMARY KEY,
    content bytea NOT NULL
);

CREATE TABLE mechanism (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    collection integer NOT NULL REFERENCES collection (id),
    sha256 text NOT NULL REFERENCES file (sha256),
    outputs integer NOT NULL,
    UNIQUE (collection, sha256)
);

-- Reports that wait to be folded: 16 bytes of id and the output, one after the other. A day that
-- is over is removed as a whole, which leaves nothing to clean up.
CREATE SEQUENCE journal_seq;
CREATE TABLE journal (
    seq bigint NOT NULL DEFAULT nextval('journal_seq'),
    mechanism integer NOT NULL,
    day date NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (seq, day)
) PARTITION BY RANGE (day);
-- Ids are random: there is nothing to compress.
ALTER TABLE journal ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE counts (
    mechanism integer NOT NULL REFERENCES mechanism (id),
    day date NOT NULL,
    output integer NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (mechanism, day, output)
);

CREATE TABLE token (
    name text PRIMARY KEY,
    role text NOT NULL,
    hash text NOT NULL UNIQUE
);

CREATE TABLE trail (
    seq bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    who text NOT NULL,
    what text NOT NULL,
    collection text NOT NULL
);
