-- People who sign in. What they hold in their hands (a session's cookie, a link) is kept as a keyed
-- digest only.

-- The second factor is sealed; it counts once it has been confirmed. `totp_step` is the last
-- half-minute whose code was used, since each code opens once.
ALTER TABLE users ADD COLUMN totp BYTEA;
ALTER TABLE users ADD COLUMN totp_vault_key TEXT COLLATE "C";
ALTER TABLE users ADD COLUMN totp_on_at BIGINT;
ALTER TABLE users ADD COLUMN totp_step BIGINT NOT NULL DEFAULT 0;

-- `waits_at` is set while the second factor is still to come.
CREATE TABLE sessions (
    digest BYTEA NOT NULL PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    address TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    waits_at BIGINT
);
CREATE INDEX sessions_of_user ON sessions (user_id, created_at);
CREATE INDEX sessions_ending ON sessions (expires_at);

-- Links with which a person chooses a password: an invitation, or a way back in.
CREATE TABLE password_links (
    digest BYTEA NOT NULL PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    kind TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX password_links_of_user ON password_links (user_id);
CREATE INDEX password_links_ending ON password_links (expires_at);

-- Wrong passwords, counted by digests of who was meant and where they came from.
CREATE TABLE sign_in_failures (
    digest BYTEA NOT NULL PRIMARY KEY,
    failures BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    wait_until BIGINT NOT NULL
);
CREATE INDEX sign_in_failures_old ON sign_in_failures (last_at);
