//! How much memory an import of a million profiles takes beyond one of a thousand.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use domain::demo;

use crate::harness::{Bar, Outcome, single};
use crate::peer::part;

const PROFILES: usize = 1_000_000;
const ALLOWED_BYTES: f64 = 64.0 * 1024.0 * 1024.0;

/// Imports a little and a lot, each into an empty database of its own.
pub(super) fn import(folder: &Path) -> Outcome {
    let little = peak(&folder.join("little"), 1_000);
    let much = peak(&folder.join("much"), PROFILES);
    let extra = (much - little).max(0.0);
    let name = ("commerce", "stock-import-memory", "bytes");
    single(name, Bar::AtMost(1.0), extra, ALLOWED_BYTES)
}

/// The most memory the import of so many held at a time, in bytes.
fn peak(folder: &Path, count: usize) -> f64 {
    std::fs::create_dir(folder).expect("a folder");
    let data = folder.join("data");
    let status = part("tern")
        .args(["org", "add", "Bench", "--currency", "USD", "--data"])
        .arg(&data)
        .stdout(Stdio::null())
        .status()
        .expect("the program starts");
    assert!(status.success(), "an empty service");
    let file = folder.join("stock.csv");
    write_stock(&file, count);
    let mut child = part("tern")
        .args(["stock", "import", "--sandbox", "--json", "--data"])
        .arg(&data)
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut most = 0.0_f64;
    loop {
        most = most.max(high_water(child.id()));
        if let Some(status) = child.try_wait().expect("it is our child") {
            assert!(status.success(), "the import ended well");
            return most;
        }
        pause();
    }
}

pub(crate) fn write_stock(file: &Path, count: usize) {
    let file = std::fs::File::create(file).expect("a file");
    let mut out = std::io::BufWriter::new(file);
    writeln!(out, "iccid,matchingId,smdpAddress,pin,puk,msisdn,imsi,profileName").expect("written");
    for line in demo::stock(count) {
        let fields = [
            &line.iccid,
            &line.matching_id,
            &line.smdp_address,
            &line.pin,
            &line.puk,
            &line.msisdn,
            &line.imsi,
            &line.profile_name,
        ];
        writeln!(out, "{}", fields.map(String::as_str).join(",")).expect("written");
    }
}

/// What the kernel noted as the most a process ever held; 0 once it is gone.
pub(crate) fn high_water(id: u32) -> f64 {
    let notes = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = notes.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
    kilobytes.unwrap_or(0.0) * 1024.0
}

#[expect(clippy::disallowed_methods, reason = "a bench looks at real processes")]
fn pause() {
    std::thread::sleep(Duration::from_millis(20));
}
