//! Every bound of the service, with its unit and its reason. A loop, a queue or a list without a
//! line here is not finished.

use std::time::Duration;

// ── Requests ────────────────────────────────────────────────────────────────────────────────────

/// Largest request body, from the contract.
pub const BODY_BYTES_MAX: usize = 1_000_000;
/// Nesting of a JSON body. Our deepest request has four levels; the rest is room for mistakes.
pub const JSON_DEPTH_MAX: usize = 32;
/// Headers of one request. Browsers behind two proxies send about thirty.
pub const HEADERS_MAX: usize = 100;
/// All headers of one request together. Larger ones are cookies gone wrong or an attack.
pub const HEADER_BYTES_MAX: usize = 16 * 1024;
/// Path and query together.
pub const URI_BYTES_MAX: usize = 8 * 1024;
/// How long a client may take to send its headers.
pub const HEADER_READ: Duration = Duration::from_secs(10);
/// How long a client may take to send its body.
pub const BODY_READ: Duration = Duration::from_secs(15);
/// Connections one node holds open at a time; beyond it new ones wait in the kernel.
pub const CONNECTIONS_MAX: usize = 10_000;
/// How long the TLS handshake of a connection may take.
pub const TLS_HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a node that is told to stop goes on serving, so that whoever asks `/readyz` hears it.
pub const FAREWELL: Duration = Duration::from_millis(800);
/// How long requests in flight may take to end after that. Orchestrators kill after ten seconds at
/// the earliest.
pub const DRAIN: Duration = Duration::from_secs(7);
/// How long the store may take to end after that.
pub const CLOSE: Duration = Duration::from_secs(1);

// ── Rates ───────────────────────────────────────────────────────────────────────────────────────

/// Requests per second and key that v2.4 and later allow a live organisation, per node.
pub const RATE_PER_SECOND: u32 = 100;
/// How many seconds' worth of requests may come at once.
pub const RATE_BURST_SECONDS: u32 = 2;
/// Highest limit that can be set for an organisation.
pub const RATE_PER_SECOND_MAX: u32 = 100_000;
/// Keys whose rate is remembered; beyond it all are forgotten, which only ever forgives.
pub const RATE_KEYS_MAX: usize = 100_000;

// ── Lists ───────────────────────────────────────────────────────────────────────────────────────

/// Events of one page of the feed.
pub const EVENTS_PAGE_MAX: i64 = 10_000;
/// Events of such a page when none is asked for.
pub const EVENTS_PAGE_DEFAULT: i64 = 100;
/// Rows of one page of the operator's lists.
pub const OPERATOR_PAGE_MAX: i64 = 1_000;
/// Rows of such a page when none is asked for.
pub const OPERATOR_PAGE_DEFAULT: i64 = 100;

// ── Texts ───────────────────────────────────────────────────────────────────────────────────────

/// A bundle's name.
pub const BUNDLE_NAME_CHARS_MAX: usize = 100;
/// A line of free text in an organisation or a user.
pub const TEXT_CHARS_MAX: usize = 1_000;
/// An e-mail address, by RFC 5321.
pub const EMAIL_BYTES_MAX: usize = 254;
/// A URL that we store.
pub const URL_BYTES_MAX: usize = 2_000;
/// Entries of a list in an organisation's settings (groups, senders, allowed addresses).
pub const SETTINGS_LIST_MAX: usize = 100;
/// Shortest password, as current guidance for user-chosen ones has it.
pub const PASSWORD_CHARS_MIN: usize = 12;
/// Longest password; hashing time grows with it.
pub const PASSWORD_CHARS_MAX: usize = 256;
/// How long a session lasts without a visit.
pub const SESSION_IDLE: Duration = Duration::from_hours(12);
/// How long it lasts at most.
pub const SESSION_MAX: Duration = Duration::from_hours(30 * 24);
/// How long somebody may take for the second factor.
pub const SECOND_FACTOR_PATIENCE: Duration = Duration::from_mins(10);
/// How often a visit is noted; each time costs a write.
pub const SESSION_TOUCH: Duration = Duration::from_mins(5);
/// Sessions of one person; the oldest ends when there are more.
pub const SESSIONS_PER_USER_MAX: i64 = 20;
/// How long an invitation is good.
pub const INVITATION_TIME: Duration = Duration::from_hours(7 * 24);
/// How long a link that sets a new password is good.
pub const RESET_TIME: Duration = Duration::from_hours(24);
/// After this time without a wrong password, earlier ones are forgotten.
pub const GUESSES_TIME: Duration = Duration::from_hours(24);
/// Characters of a browser's name that are kept with its session.
pub const AGENT_CHARS_MAX: usize = 200;
/// Passwords checked at the same time: each takes 19 MiB and a core.
pub const PASSWORDS_AT_ONCE: usize = 2;
/// Pages that follow changes, on one node; beyond them a page is still and can be loaded again.
pub const LIVE_PAGES_MAX: usize = 1_000;
/// How often such a page asks whether something has changed.
pub const LIVE_LOOK: Duration = Duration::from_secs(1);
/// How long one follows before the browser asks anew, with a session that may have ended.
pub const LIVE_TIME: Duration = Duration::from_mins(5);
/// Users of one organisation, since `GET /organisation` returns them all.
pub const USERS_PER_ORGANISATION_MAX: i64 = 1_000;
/// API keys of one organisation that are not revoked.
pub const KEYS_PER_ORGANISATION_MAX: i64 = 100;

// ── Store ───────────────────────────────────────────────────────────────────────────────────────

/// Writes committed together. PostgreSQL keeps 64 subtransactions cheap.
pub const GROUP_WRITES_MAX: usize = 50;
/// How long a group may gather work before it commits.
pub const GROUP_TIME: Duration = Duration::from_millis(5);
/// Writes of one organisation that may wait; beyond it the caller hears 503.
pub const QUEUE_PER_ORGANISATION_MAX: usize = 1_000;
/// Writes of all organisations that may wait at one writer.
pub const QUEUE_TOTAL_MAX: usize = 10_000;
/// Reads that may wait.
pub const READ_QUEUE_MAX: usize = 10_000;
/// How often a write that lost a deadlock is run again, alone.
pub const DEADLOCK_RETRIES: u32 = 5;
/// How long a writer tries to learn the fate of a commit whose answer was lost.
pub const LOST_COMMIT_WAIT: Duration = Duration::from_secs(5);
/// How long a connection to the database may take.
pub const CONNECT: Duration = Duration::from_secs(3);
/// How long to wait after a failed connection before the next try, at least.
pub const RECONNECT_PAUSE: Duration = Duration::from_millis(100);
/// Prepared statements kept per PostgreSQL connection. Ours are about a hundred; filters add a few.
pub const STATEMENTS_PER_CONNECTION_MAX: usize = 500;
/// How long a statement may run on PostgreSQL before it is cancelled: far above any of ours, so
/// only a stuck one meets it.
pub const STATEMENT_TIME: Duration = Duration::from_secs(15);
/// How long a statement waits for a row that another node has locked. Locks last milliseconds; a
/// longer one belongs to a node in trouble, and others must not wait for it in a row.
pub const LOCK_WAIT: Duration = Duration::from_secs(2);
/// How long the answer to a statement may take; the server cancels a slow one before.
pub const ANSWER: Duration = Duration::from_secs(17);

// ── Work ────────────────────────────────────────────────────────────────────────────────────────

/// Pieces of due work one node does at a time.
pub const JOBS_AT_ONCE: usize = 64;
/// How often a node looks for due work without being woken.
pub const JOBS_POLL: Duration = Duration::from_millis(500);
/// How often a node says that it lives.
pub const HEARTBEAT: Duration = Duration::from_secs(1);
/// A node not heard of for this long is dead, and its work is given to others.
pub const NODE_SILENCE: Duration = Duration::from_secs(6);
/// How long whoever moves a clock by hand waits for work that is under way.
pub const FLIGHT: Duration = Duration::from_secs(30);
/// Pieces of work that one advance of a sandbox clock does at most.
pub const ADVANCE_ITEMS_MAX: usize = 10_000;

// ── Money ───────────────────────────────────────────────────────────────────────────────────────

/// How long a caller waits for a payment provider before it is told 503; the charge goes on.
pub const PAYMENT_PATIENCE: Duration = Duration::from_secs(5);
/// How long one question to a payment provider may take.
pub const PAYMENT_ANSWER: Duration = Duration::from_secs(20);
/// Largest amount of one movement, in minor units: far from the edge of what fits, so that sums of
/// millions of them do too.
pub const AMOUNT_MAX: i64 = 1_000_000_000_000;
/// An idempotency key, from the contract.
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 255;
/// Rows of one page of a statement or of verification.
pub const LEDGER_PAGE: i64 = 1_000;

// ── Catalogue, orders, stock ────────────────────────────────────────────────────────────────────

/// Rows of one page of the interface's lists, from the contract.
pub const PAGE_MAX: i64 = 10_000;
/// Bundles an order item may have, from the contract.
pub const ITEM_QUANTITY_MAX: i64 = 1_000;
/// Bundles an order may have, from the contract.
pub const ORDER_BUNDLES_MAX: i64 = 10_000;
/// Bundles that are handled before the answer where larger numbers are not, from the contract.
pub const SYNCHRONOUS_BUNDLES_MAX: i64 = 5;
/// How long an order may be processed before it fails, from the contract.
pub const ORDER_PROCESSING: Duration = Duration::from_mins(10);
/// How long a lot lies in the inventory before it expires, from the contract.
pub const LOT_LIFE: Duration = Duration::from_hours(365 * 24);
/// Lots of one organisation that expire in one transaction; the rest follows at once.
pub const LOTS_EXPIRED_AT_ONCE: i64 = 200;
/// Days in which bundles can be given back, unless set otherwise for an organisation.
pub const REFUND_DAYS: i64 = 60;
/// Most days that can be set: beyond the life of a lot there is nothing to give back.
pub const REFUND_DAYS_MAX: i64 = 365;
/// Price of one bundle in minor units: an order of the largest size still fits a movement of money.
pub const PRICE_MAX: i64 = AMOUNT_MAX / ORDER_BUNDLES_MAX;
/// Data of a bundle, in megabytes: a petabyte.
pub const BUNDLE_MB_MAX: i64 = 1_000_000_000;
/// Speed beyond the daily allowance, in kilobits per second.
pub const THROTTLE_KBPS_MAX: i64 = 10_000_000;
/// Duration of a bundle, in its unit.
pub const BUNDLE_DURATION_MAX: i64 = 3_650;
/// A catalogue that is brought in one piece; five thousand bundles need about three megabytes.
pub const CATALOGUE_BYTES_MAX: usize = 64_000_000;
/// Rows of such a catalogue, so that one transaction can hold it.
pub const CATALOGUE_ROWS_MAX: usize = 200_000;
/// Rendered answers about the catalogue that a node keeps.
pub const CATALOGUE_PAGES_BYTES_MAX: usize = 64_000_000;
/// Faults of an import that are named; whoever has more mends these first.
pub const IMPORT_FAULTS_MAX: usize = 1_000;
/// Lines of stock in one transaction and one request.
pub const STOCK_LINES_MAX: usize = 1_000;
/// A line of an import.
pub const IMPORT_LINE_BYTES_MAX: usize = 64 * 1024;
/// Rows that one statement inserts. SQLite takes 32,766 arguments, PostgreSQL 65,535; our widest
/// row has 18.
pub const ROWS_PER_STATEMENT_MAX: usize = 256;

// ── eSIMs ───────────────────────────────────────────────────────────────────────────────────────

/// Bundles one apply may have, from the contract.
pub const APPLY_BUNDLES_MAX: i64 = 1_000;
/// How long a bundle may wait on an eSIM before it lapses, from the contract.
pub const ASSIGNMENT_WAIT: Duration = Duration::from_hours(365 * 24);
/// How long an eSIM with nothing left on it stays with its organisation, from the contract.
pub const ESIM_IDLE: Duration = Duration::from_hours(365 * 24);
/// How long before that it is announced, from the contract.
pub const ESIM_NOTICE: Duration = Duration::from_hours(7 * 24);
/// How long a country that was told of is not told of again, from the contract.
pub const COUNTRY_AGAIN: Duration = Duration::from_hours(24);
/// The owner's note on an eSIM, from the contract.
pub const CUSTOMER_REF_CHARS_MAX: usize = 255;
/// A text message, from the contract.
pub const SMS_CHARS_MAX: usize = 160;
/// Messages that the test centre shows of an eSIM.
pub const MESSAGES_SHOWN: i64 = 100;
/// eSIMs that a download reads at a time; what it sends next is all it holds.
pub const DOWNLOAD_PAGE: i64 = 500;
/// Data in one usage record: a petabyte.
pub const RECORD_BYTES_MAX: i64 = 1_000_000_000_000_000;
/// Records in one batch, from the contract.
pub const RECORDS_MAX: usize = 10_000;
/// A batch of so many records: each has some 250 bytes, and room to spare.
pub const RECORDS_BYTES_MAX: usize = 10_000_000;
/// The id of a record, and the name of its source.
pub const RECORD_NAME_CHARS_MAX: usize = 255;
/// Records of one organisation in one transaction, from the contract.
pub const RECORDS_PER_WRITE: usize = 200;
/// How far in the future a record may be, since clocks differ; from the contract.
pub const RECORD_AHEAD: Duration = Duration::from_mins(5);
/// Free profiles of a kind below which the operator is told.
pub const STOCK_LOW: i64 = 100;
/// Answers about eSIMs that a node keeps; each has some 700 bytes.
pub const RECENT_ESIMS_BYTES_MAX: usize = 64_000_000;
/// How often the stock is counted for monitoring.
pub const STOCK_LOOK: Duration = Duration::from_secs(30);
/// How long one call to a network or a message centre may take.
pub const NETWORK_ANSWER: Duration = Duration::from_secs(10);

// ── Callbacks ───────────────────────────────────────────────────────────────────────────────────

/// How long one attempt may take in all, from the contract.
pub const CALLBACK_ANSWER: Duration = Duration::from_secs(15);
/// How long the body of an answer may take once its status is known.
pub const CALLBACK_ANSWER_BODY: Duration = Duration::from_secs(1);
/// How much of an answer is read; more than that, and the connection is not used again.
pub const CALLBACK_ANSWER_BYTES_MAX: usize = 64 * 1024;
/// How long the head of an answer may be.
pub const CALLBACK_ANSWER_HEAD_BYTES_MAX: usize = 64 * 1024;
/// How much of an answer is kept to be looked at.
pub const CALLBACK_ANSWER_KEPT: usize = 500;
/// How long a receiver may ask us to wait.
pub const CALLBACK_WAIT_MAX: Duration = Duration::from_hours(24);
/// Addresses of one receiver that are tried, one after the other.
pub const CALLBACK_ADDRESSES_MAX: usize = 4;
/// Callbacks under way to one receiver from one node. A receiver that fails is given fewer.
pub const CALLBACKS_PER_RECEIVER: usize = 64;
/// Callbacks under way to a receiver that only fails.
pub const CALLBACKS_TO_FAILING: usize = 2;
/// Callbacks under way from one node.
pub const CALLBACKS_AT_ONCE: usize = 4_096;
/// Idle connections to one receiver that are kept for the next callback.
pub const CALLBACK_IDLE_CONNECTIONS: usize = CALLBACKS_PER_RECEIVER;
/// How long such a connection is kept.
pub const CALLBACK_IDLE: Duration = Duration::from_secs(30);
/// When a callback is tried again that cannot be signed just now.
pub const CALLBACK_UNSIGNED: Duration = Duration::from_secs(5);
/// How often a node looks for due callbacks without being woken.
pub const CALLBACKS_POLL: Duration = Duration::from_millis(500);
/// How long it rests between two looks, however often it is woken.
pub const CALLBACKS_REST: Duration = Duration::from_millis(2);
/// An endpoint that only fails for so long is switched off, from the contract.
pub const CALLBACK_FAILING_MAX: Duration = Duration::from_hours(5 * 24);
/// For how long an old webhook secret signs beside a new one.
pub const SECRET_OVERLAP: Duration = Duration::from_hours(24);
/// Steps of usage events that an organisation may have of its own.
pub const USAGE_STEPS_MAX: usize = 20;
/// How often the lack of money is told until the balance rises again, from the contract.
pub const SHORT_TOLD_MAX: i64 = 10;
/// The balance at which an organisation is told that it is low, in major units, from the contract.
pub const LOW_BALANCE_MAJOR: i64 = 100;
/// Deliveries that are sent again, or forgotten, in one transaction.
pub const DELIVERIES_PER_WRITE: i64 = 1_000;
/// Deliveries beyond which nobody counts.
pub const DELIVERIES_COUNTED_MAX: i64 = 10_000;
/// Deliveries that an organisation's delays are computed from.
pub const DELAYS_OF: i64 = 1_000;
/// Events that are looked at for those of one kind.
pub const EVENTS_LOOKED_AT: i64 = 10_000;
/// Hours of a series of usage: more than a year.
pub const USAGE_HOURS_MAX: i64 = 400 * 24;
/// Days of one.
pub const USAGE_DAYS_MAX: i64 = 4_000;
/// How often old records and attempts are forgotten.
pub const FORGET_EVERY: Duration = Duration::from_mins(10);

// ── Portal ──────────────────────────────────────────────────────────────────────────────────────

/// eSIMs that one look for a piece of a number or a note goes through.
pub const ESIMS_LOOKED_AT: i64 = 20_000;
/// Links to one eSIM that work at a time: for a family, and then some.
pub const SHARES_PER_ESIM_MAX: usize = 20;
/// Days for which a link works when nobody says.
pub const SHARE_DAYS: i64 = 30;
/// Most days for which one may.
pub const SHARE_DAYS_MAX: i64 = 365;
/// Failed requests of one organisation that are kept.
pub const FAILURES_KEPT: usize = 200;
/// Days for which they are.
pub const FAILURES_DAYS: i64 = 14;
/// Failed requests that one node holds until they are written; beyond it they are lost.
pub const FAILURES_WAITING_MAX: usize = 10_000;
/// How often they are written.
pub const FAILURES_EVERY: Duration = Duration::from_secs(1);
/// How much of what a failed request was told is kept.
pub const FAILURE_MESSAGE_CHARS_MAX: usize = 500;
/// eSIMs of one end user that are erased together.
pub const ERASED_ESIMS_MAX: usize = 100;
/// Rows of a kind that are erased in one transaction.
pub const ERASED_ROWS: i64 = 500;
/// Words of a search that are looked at.
pub const SEARCH_WORDS_MAX: usize = 8;
/// Orders that one look for those of a status goes through; the next look goes on from there.
pub const ORDERS_LOOKED_AT: i64 = 20_000;
/// Lots of one bundle that are shown, those that expire first.
pub const LOTS_SHOWN: i64 = 200;
/// Held bundles that are offered to be put on an eSIM, the first by name.
pub const HELD_BUNDLES_SHOWN: i64 = 200;
/// Days of the courses that an overview shows.
pub const OVERVIEW_DAYS: i64 = 30;
/// Hours before its end from which a bundle ends soon.
pub const ENDING_SOON: Duration = Duration::from_hours(3 * 24);
/// Bundles beyond which nobody counts how many end soon or are nearly used up.
pub const ENDING_COUNTED_MAX: usize = 100;
/// Rows of such a list that an overview shows.
pub const OVERVIEW_ROWS: usize = 5;
/// Bundles in use, the first to end first, that are looked at for those that are nearly used up.
pub const IN_USE_LOOKED_AT: i64 = 1_000;
/// Percent of a bundle from which on it is nearly used up.
pub const NEARLY_USED_PERCENT: i64 = 80;
/// eSIMs of one status, and lots that expire, beyond which nobody counts.
pub const OVERVIEW_COUNTED_MAX: i64 = 10_000;
/// Days within which a lot expires soon.
pub const LOT_SOON_DAYS: i64 = 30;

// ── Access ──────────────────────────────────────────────────────────────────────────────────────

/// How often a node asks whether keys or settings changed elsewhere. A revoked key must be refused
/// within a second on every node.
pub const EPOCH_POLL: Duration = Duration::from_millis(300);
/// A node that could not ask for this long trusts nothing it remembers.
pub const EPOCH_TRUST: Duration = Duration::from_millis(900);
/// Keys remembered by a node.
pub const KEY_CACHE_MAX: usize = 100_000;
/// Wrong keys remembered by a node, so that repeating one costs no look-up.
pub const WRONG_KEYS_MAX: usize = 10_000;

// ── Sandbox ─────────────────────────────────────────────────────────────────────────────────────

/// How far one call may advance a sandbox clock: ten years.
pub const ADVANCE_SECONDS_MAX: i64 = 10 * 366 * 24 * 3_600;
/// How often one fault may be asked for.
pub const FAULT_TIMES_MAX: i64 = 10_000;
/// How slow an answer may be made.
pub const FAULT_SECONDS_MAX: i64 = 60;
/// How far a sandbox clock may run ahead in all: a thousand years, so that dates stay writable.
pub const CLOCK_OFFSET_MS_MAX: i64 = 1_000 * 366 * 24 * 3_600 * 1_000;
