//! What is read of a receiver's answer: little, and not for long.

use std::time::{Duration, SystemTime};

use domain::{Timestamp, limits};
use http::header::{HeaderMap, RETRY_AFTER};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout_at};

/// A character of UTF-8 that begins within what is kept ends at most so many bytes after it.
const CHAR_BYTES_MAX: usize = 4;

/// How the body begins, as text. The status has decided already: a body that is too long, too slow
/// or broken costs only its connection.
pub(super) async fn start(body: Incoming, deadline: Instant) -> String {
    if body.is_end_stream() {
        return String::new();
    }
    let until = deadline.min(Instant::now() + limits::CALLBACK_ANSWER_BODY);
    let mut kept = Vec::new();
    let _ = timeout_at(until, read(body, &mut kept)).await;
    text(&kept)
}

/// Reads to the end, so that the connection can be used again, unless the end is too far.
async fn read(mut body: Incoming, kept: &mut Vec<u8>) {
    let mut bytes_left = limits::CALLBACK_ANSWER_BYTES_MAX;
    while let Some(Ok(frame)) = body.frame().await {
        let Some(data) = frame.data_ref() else { continue };
        let room = limits::CALLBACK_ANSWER_KEPT + CHAR_BYTES_MAX - kept.len();
        kept.extend_from_slice(&data[..room.min(data.len())]);
        let Some(rest) = bytes_left.checked_sub(data.len()) else { return };
        bytes_left = rest;
    }
}

fn text(kept: &[u8]) -> String {
    let all = String::from_utf8_lossy(kept);
    let end = all.floor_char_boundary(limits::CALLBACK_ANSWER_KEPT);
    all[..end].replace(char::is_control, " ")
}

/// How long the receiver asks to wait, as seconds or as a date, but not longer than it may ask.
pub(super) fn retry_after(headers: &HeaderMap, at: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let asked = if is_number {
        // More digits than fit mean the same as the most that fit.
        Duration::from_secs(text.parse().unwrap_or(u64::MAX))
    } else {
        let until = httpdate::parse_http_date(text).ok()?;
        let at = Duration::from_millis(u64::try_from(at.ms()).ok()?);
        // A time that has passed asks for nothing.
        until.duration_since(SystemTime::UNIX_EPOCH).ok()?.saturating_sub(at)
    };
    Some(asked.min(limits::CALLBACK_WAIT_MAX))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn asked(text: &str) -> Option<u64> {
        let value = HeaderValue::from_str(text).expect("a value");
        let headers = HeaderMap::from_iter([(RETRY_AFTER, value)]);
        let at = Timestamp::parse("2026-05-04T08:15:00Z").expect("a time");
        retry_after(&headers, at).map(|wait| wait.as_secs())
    }

    #[test]
    fn waiting_is_asked_for_in_seconds_or_until_a_date() {
        assert_eq!(asked("0"), Some(0));
        assert_eq!(asked("120"), Some(120));
        assert_eq!(asked(" 7 "), Some(7));
        assert_eq!(asked("Mon, 04 May 2026 08:16:30 GMT"), Some(90));
        assert_eq!(asked("Monday, 04-May-26 08:16:30 GMT"), Some(90));
        assert_eq!(asked("Mon May  4 08:16:30 2026"), Some(90));
        assert_eq!(asked("Mon, 04 May 2026 08:00:00 GMT"), Some(0));
        assert_eq!(asked("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
    }

    #[test]
    fn nobody_waits_for_ever() {
        let most = Some(limits::CALLBACK_WAIT_MAX.as_secs());
        assert_eq!(asked("86401"), most);
        assert_eq!(asked("99999999999999999999999999"), most);
        assert_eq!(asked("Fri, 31 Dec 9999 23:59:59 GMT"), most);
    }

    #[test]
    fn what_asks_for_no_time_is_not_heard() {
        for text in ["", "-1", "1.5", "soon", "2026-05-04T08:16:30Z", "1 2", "+3"] {
            assert_eq!(asked(text), None, "{text}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), Timestamp::from_ms(0)), None);
    }

    #[test]
    fn the_text_is_cut_between_characters_and_controls_nothing() {
        assert_eq!(text(b"all\r\nright\x1b[2J\xc2\x85"), "all  right [2J ");
        assert_eq!(text(b"\xff\xfe"), "\u{fffd}\u{fffd}");
        let most = limits::CALLBACK_ANSWER_KEPT + CHAR_BYTES_MAX;
        let long = |text: &str| text.repeat(most).as_bytes()[..most].to_vec();
        assert_eq!(text(&long("a")).len(), limits::CALLBACK_ANSWER_KEPT);
        let cut = text(&long("é€"));
        assert!(cut.len() <= limits::CALLBACK_ANSWER_KEPT && !cut.contains('\u{fffd}'), "{cut}");
        assert!(text(&vec![0xff; most]).len() <= limits::CALLBACK_ANSWER_KEPT);
    }
}
