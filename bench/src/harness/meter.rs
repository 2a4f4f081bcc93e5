//! What is measured: time by the clock, time of the processor, time of a sync.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Sample, median};

const FSYNC_SAMPLES: usize = 20;
const FSYNC_BYTES: usize = 4096;

/// Runs one round and takes the time of it. The closure says how many operations it did.
///
/// Processor time is that of this process with all its threads, and of children that it waited
/// for. A server that was running before is in neither.
#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
pub(crate) fn timed(round: impl FnOnce() -> u64) -> Sample {
    let (cpu, start) = (cpu_time(), Instant::now());
    let ops = round();
    let wall = start.elapsed();
    Sample { ops, wall, cpu: cpu_time().since(cpu) }
}

/// Processor time so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuTime {
    /// This process, all threads.
    pub(crate) own: Duration,
    /// Children that have ended and were waited for, with their own.
    pub(crate) children: Duration,
}

impl CpuTime {
    pub(crate) fn since(self, earlier: Self) -> Duration {
        (self.own + self.children).saturating_sub(earlier.own + earlier.children)
    }
}

/// The kernel counts in hundredths of a second, whatever its own clock is.
pub(super) const TICK: Duration = Duration::from_millis(10);

pub(crate) fn cpu_time() -> CpuTime {
    let notes = std::fs::read_to_string("/proc/self/stat").expect("Linux keeps notes on processes");
    parse_cpu_time(&notes).expect("the notes have the fields that proc(5) promises")
}

/// Processor time of another process so far.
pub(crate) fn cpu_time_of(id: u32) -> Duration {
    let notes = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("it runs");
    parse_cpu_time(&notes).expect("the notes have the fields that proc(5) promises").own
}

/// Fields 14 to 17 of `number (name) state …`: own time and children's, each user and system.
fn parse_cpu_time(notes: &str) -> Option<CpuTime> {
    let (_, after_name) = notes.rsplit_once(") ")?;
    let mut fields = after_name.split(' ').skip(11);
    let mut next = || Some(TICK * fields.next()?.parse::<u32>().ok()?);
    let own = next()? + next()?;
    let children = next()? + next()?;
    Some(CpuTime { own, children })
}

/// How long a small write takes to reach the disk: most of what a commit costs.
pub(crate) fn fsync_time(dir: &Path) -> Duration {
    let mut file = tempfile::tempfile_in(dir).expect("a bench can write where its data lies");
    let times = (0..FSYNC_SAMPLES).map(|_| synced_write(&mut file).as_secs_f64());
    Duration::from_secs_f64(median(times))
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn synced_write(file: &mut File) -> Duration {
    let start = Instant::now();
    file.seek(SeekFrom::Start(0)).expect("a file can be written again");
    file.write_all(&[7; FSYNC_BYTES]).expect("there is room for one page");
    file.sync_all().expect("the disk takes one page");
    start.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn processor_time_is_read_past_a_strange_name() {
        let notes = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 150 50 20 5 0 0";
        let time = parse_cpu_time(notes).expect("all fields are there");
        assert_eq!((time.own, time.children), (Duration::from_secs(2), TICK * 25));
        assert!(parse_cpu_time("7 (a) S 1 2").is_none());
    }

    #[test]
    fn a_round_is_timed_with_its_children() {
        let count = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let sample = timed(|| {
            let status = Command::new("sh").args(["-c", count]).status().expect("there is a shell");
            u64::from(status.success())
        });
        assert!(sample.ops == 1 && sample.cpu >= TICK && sample.wall >= TICK, "{sample:?}");
    }

    #[test]
    fn a_sync_takes_time_and_leaves_nothing() {
        let dir = tempfile::tempdir().expect("the folder for temporary files is open");
        assert!(fsync_time(dir.path()) > Duration::ZERO);
        assert_eq!(std::fs::read_dir(dir.path()).expect("it is there").count(), 0);
    }
}
