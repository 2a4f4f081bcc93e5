-- Written for PostgreSQL; `migrate.rs` turns it into SQLite. Times are milliseconds, money is minor
-- units, lists are lines of one text, a yes or no is a nullable time.

-- What is counted per organisation, in one row that every write locks first.
CREATE TABLE org_heads (
    org_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    event_seq BIGINT NOT NULL,
    balance BIGINT NOT NULL,
    test_credit BIGINT NOT NULL,
    test_credit_expires_at BIGINT,
    clock_offset_ms BIGINT NOT NULL,
    held_at BIGINT
);

-- The house itself: the lock for acts that belong to no organisation.
INSERT INTO org_heads (org_id, event_seq, balance, test_credit, clock_offset_ms)
    VALUES ('00000000-0000-0000-0000-000000000000', 0, 0, 0, 0);

CREATE TABLE organisations (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES org_heads (org_id),
    mode TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    tax_liable TEXT COLLATE "C" NOT NULL,
    addr1 TEXT COLLATE "C" NOT NULL,
    addr2 TEXT COLLATE "C" NOT NULL,
    city TEXT COLLATE "C" NOT NULL,
    country TEXT COLLATE "C" NOT NULL,
    postcode TEXT COLLATE "C" NOT NULL,
    notes TEXT COLLATE "C" NOT NULL,
    business_type TEXT COLLATE "C" NOT NULL,
    website TEXT COLLATE "C" NOT NULL,
    product_description TEXT COLLATE "C" NOT NULL,
    bundle_groups TEXT COLLATE "C" NOT NULL,
    callback_url TEXT COLLATE "C",
    callback_version TEXT COLLATE "C" NOT NULL,
    usage_events TEXT COLLATE "C" NOT NULL,
    senders TEXT COLLATE "C" NOT NULL,
    ip_allow_list TEXT COLLATE "C" NOT NULL,
    rate_limit BIGINT,
    created_at BIGINT NOT NULL
);

-- API keys of organisations, operator keys of the house. The text of a key is sealed; it is found
-- by a keyed digest.
CREATE TABLE keys (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES org_heads (org_id),
    label TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL UNIQUE,
    sealed BYTEA NOT NULL,
    vault_key TEXT COLLATE "C" NOT NULL,
    primary_at BIGINT,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE INDEX keys_of_org ON keys (org_id, id);
CREATE UNIQUE INDEX one_primary_key ON keys (org_id) WHERE primary_at IS NOT NULL;

CREATE TABLE users (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES org_heads (org_id),
    first_name TEXT COLLATE "C" NOT NULL,
    last_name TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    email TEXT COLLATE "C" NOT NULL UNIQUE,
    phone TEXT COLLATE "C" NOT NULL,
    time_zone TEXT COLLATE "C" NOT NULL,
    password_hash TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);
CREATE INDEX users_of_org ON users (org_id, id);

-- Who did what. Only ever added to.
CREATE TABLE audit (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    org_id TEXT COLLATE "C",
    target TEXT COLLATE "C" NOT NULL,
    detail TEXT COLLATE "C" NOT NULL
);

-- Numbers that nodes poll to learn that something they remember has changed. Bumped only under the
-- lock of the house.
CREATE TABLE epochs (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO epochs (name, value) VALUES ('access', 0);

-- The last group each writer committed, to learn the fate of a commit whose answer was lost.
CREATE TABLE store_writers (
    writer TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    group_no BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);

-- Small facts about this installation, such as the proof that the vault file is the right one.
CREATE TABLE settings (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value BYTEA NOT NULL
);
