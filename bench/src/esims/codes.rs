//! QR codes against the tools people know, and the memory of a download of many.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::commerce::memory::high_water;
use crate::harness::{Bar, By, Case, Outcome, ROUNDS_MIN, run as measure, single, timed};
use crate::peer::Peer;
use crate::world::{BUNDLE, World};

const SAMPLE: u32 = 1_000;
const OURS_A_ROUND: usize = 5_000;
const THEIRS_A_ROUND: usize = 200;
const ALLOWED_BYTES: f64 = 64.0 * 1024.0 * 1024.0;
const ORDERS: usize = 10;
const CODES_EACH: usize = 10_000;

fn code(n: usize) -> String {
    let letters = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    let mut state = (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut group = || {
        let letter = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(letters[usize::try_from(state >> 59).expect("five bits")])
        };
        (0..5).map(letter).collect::<String>()
    };
    let groups = [group(), group(), group(), group()];
    format!("LPA:1$rsp.demo.example${}", groups.join("-"))
}

fn picture(n: usize) -> Vec<u8> {
    app::qr::png(&code(n)).expect("a picture")
}

fn length(bytes: &[u8]) -> f64 {
    f64::from(u32::try_from(bytes.len()).expect("small"))
}

/// Speed, size, and whether all can be read.
pub(super) fn pictures(folder: &Path) -> Vec<Outcome> {
    let speed = measure(
        Case {
            bench: "esims",
            case: "qr-speed".into(),
            unit: "codes/cpu-s",
            bar: Bar::AtLeast(20.0),
            by: By::Processor,
            dir: folder.to_owned(),
            ours: Box::new(|| {
                timed(|| {
                    let bytes: usize = (0..OURS_A_ROUND).map(|n| picture(n).len()).sum();
                    assert!(bytes > 0);
                    OURS_A_ROUND as u64
                })
            }),
            reference: Box::new(|| timed(segno)),
        },
        ROUNDS_MIN,
    );
    let ours = (0..100).map(|n| length(&picture(n))).sum::<f64>();
    let theirs = (0..100).map(|n| length(&qrencode(&code(n)))).sum::<f64>();
    let size =
        single(("esims", "qr-bytes", "bytes"), Bar::AtMost(1.4), ours / 100.0, theirs / 100.0);
    let read = single(
        ("esims", "qr-read-by-zbar", "codes"),
        Bar::AtLeast(1.0),
        f64::from(read_back(&folder.join("pictures"))),
        f64::from(SAMPLE),
    );
    vec![speed, size, read]
}

/// The Python package, drawing the same codes at the same size.
fn segno() -> u64 {
    const PROGRAM: &str = "import io, sys, segno\n\
         for code in sys.stdin.read().split():\n    \
             picture = io.BytesIO()\n    \
             segno.make(code, error='m', micro=False)\
                 .save(picture, kind='png', scale=8, border=4)\n";
    let mut child = Command::new("/usr/bin/python3")
        .args(["-c", PROGRAM])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("python3 is there");
    let codes: Vec<_> = (0..THEIRS_A_ROUND).map(code).collect();
    let mut input = child.stdin.take().expect("its stdin is ours");
    input.write_all(codes.join("\n").as_bytes()).expect("written");
    drop(input);
    assert!(child.wait().expect("it ends").success(), "segno draws");
    THEIRS_A_ROUND as u64
}

fn qrencode(text: &str) -> Vec<u8> {
    let output = Command::new("qrencode")
        .args(["-s", "8", "-m", "4", "-l", "M", "-o", "-", text])
        .output()
        .expect("qrencode is there");
    assert!(output.status.success(), "qrencode draws");
    output.stdout
}

/// How many of a sample a reader reads as what they are.
fn read_back(folder: &Path) -> u32 {
    std::fs::create_dir(folder).expect("a folder");
    let sample = || (0_usize..).take(SAMPLE as usize);
    let files: Vec<_> = sample().map(|n| folder.join(format!("{n:04}.png"))).collect();
    for (n, file) in files.iter().enumerate() {
        std::fs::write(file, picture(n)).expect("written");
    }
    let output = Command::new("zbarimg")
        .args(["--raw", "-q", "--nodbus", "-Sdisable", "-Sqrcode.enable"])
        .args(&files)
        .output()
        .expect("zbarimg is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let read: std::collections::HashSet<_> = text.lines().collect();
    let good = sample().filter(|n| read.contains(code(*n).as_str())).count();
    u32::try_from(good).expect("small")
}

/// The memory that a ZIP of 100,000 codes takes beyond one of a few.
pub(super) fn archive(world: &World, iccids: &[String]) -> Outcome {
    let references = orders(world, iccids);
    let tern = Peer::tern(&world.data);
    let key = &world.orgs[0].1;
    download(&tern.address, key, &[format!("{}-1", references[0])]);
    let before = high_water(tern.id());
    let bytes = download(&tern.address, key, &references);
    assert!(bytes > 30_000_000, "a picture for each: {bytes}");
    let extra = (high_water(tern.id()) - before).max(0.0);
    single(("esims", "zip-memory", "bytes"), Bar::AtMost(1.0), extra, ALLOWED_BYTES)
}

/// Orders that put a bundle on each of many eSIMs.
fn orders(world: &World, iccids: &[String]) -> Vec<String> {
    const ORDER: &str = "INSERT INTO orders (id, org_id, seq, reference, status, status_message, \
         target, total, test_credit, running_balance, source_ip, created_at, finished_at) \
         VALUES ($1, $2, 0, $1, 'completed', 'Order completed', 'esims', 0, 0, 0, '', 1, 1)";
    const ASSIGNMENT: &str = "INSERT INTO assignments (org_id, iccid, bundle, order_id, item, n, \
         esim, state, assigned_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let org = world.orgs[0].0;
    let make = |n: usize| {
        let reference = format!("5c07219b-c107-4ce5-902a-{n:012}");
        let (id, iccids) = (reference.clone(), iccids[n * CODES_EACH..][..CODES_EACH].to_vec());
        world.write(move |tx| {
            tx.exec(ORDER, store::args![&id, org])?;
            let row = |(iccid, n): (&String, i64)| {
                store::args![org, iccid, BUNDLE, &id, 0, n, "named", "queued", 1].to_vec()
            };
            tx.later_rows(ASSIGNMENT, iccids.iter().zip(0_i64..).map(row).collect())?;
            Ok(0)
        });
        reference
    };
    (0..ORDERS).map(make).collect()
}

/// Reads a download to its end and says how long it was; keeps none of it.
fn download(address: &str, key: &str, references: &[String]) -> u64 {
    let query: Vec<_> = references.iter().map(|one| format!("reference={one}")).collect();
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket");
    let request = format!(
        "GET /v2.5/esims/assignments?{} HTTP/1.1\r\nHost: bench\r\nX-API-Key: {key}\r\n\
         Accept: application/zip\r\nConnection: close\r\n\r\n",
        query.join("&")
    );
    stream.write_all(request.as_bytes()).expect("sent");
    let (mut buffer, mut bytes, mut start) = (vec![0; 65_536], 0, Vec::new());
    loop {
        let read = stream.read(&mut buffer).expect("received");
        if read == 0 {
            assert!(start.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&start));
            return bytes;
        }
        if start.len() < 100 {
            start.extend_from_slice(&buffer[..read.min(200)]);
        }
        bytes += read as u64;
    }
}
