//! The reference on PostgreSQL: pgbench with prepared statements, all clients on one organisation,
//! as a service without grouping would do it.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use domain::OrgId;

use super::{BODY, ICCID, REFERENCE};
use crate::harness::{Sample, timed};

pub(super) struct Script {
    file: tempfile::NamedTempFile,
    url: String,
    program: PathBuf,
}

impl Script {
    pub(super) fn new(url: &str, org: OrgId) -> Self {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text(org).as_bytes()).expect("written");
        let folder = std::env::var("TERN_TEST_POSTGRES_BIN").expect("run by `cargo xtask bench`");
        Self { file, url: url.to_owned(), program: PathBuf::from(folder).join("pgbench") }
    }

    pub(super) fn round(&self, clients: usize, time: Duration) -> Sample {
        let mut count = 0;
        let mut sample = timed(|| {
            let output = Command::new(&self.program)
                .args(["--no-vacuum", "--protocol", "prepared", "--jobs", "2"])
                .args(["--client", &clients.to_string(), "--time", &time.as_secs().to_string()])
                .arg("--file")
                .arg(self.file.path())
                .arg(&self.url)
                .output()
                .expect("pgbench runs");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            count = transactions(&text);
            count
        });
        // Connecting is not part of the work; pgbench measures from the moment it has connected.
        sample.wall = time;
        sample
    }
}

fn text(org: OrgId) -> String {
    let body = BODY.replace('\'', "''");
    format!(
        "BEGIN;
SELECT event_seq, balance, test_credit, test_credit_expires_at, clock_offset_ms, held_at \
FROM org_heads WHERE org_id = '{org}' FOR UPDATE;
SELECT remaining FROM bench_lots WHERE id = 1;
UPDATE bench_lots SET remaining = remaining - 1 WHERE id = 1 AND remaining >= 1;
INSERT INTO bench_assignments (org_id, lot_id, iccid, state) \
VALUES ('{org}', 1, '{ICCID}', 'queued');
INSERT INTO bench_orders (org_id, reference, total) VALUES ('{org}', '{REFERENCE}', 1250);
INSERT INTO bench_events (org_id, seq, body) VALUES ('{org}', 1, '{body}');
UPDATE org_heads SET event_seq = event_seq + 1 WHERE org_id = '{org}';
COMMIT;
"
    )
}

/// `number of transactions actually processed: 12345`.
pub(crate) fn transactions(report: &str) -> u64 {
    report
        .lines()
        .find_map(|line| line.strip_prefix("number of transactions actually processed: "))
        .and_then(|number| number.split('/').next()?.trim().parse().ok())
        .expect("pgbench reports its count")
}
