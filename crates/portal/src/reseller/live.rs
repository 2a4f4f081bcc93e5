//! Pages that follow changes: a stream that says *when* something has changed. The page then loads
//! its own parts again, so nothing is ever rendered in two ways.

use std::sync::Arc;
use std::time::Duration;

use app::people::Member;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::{Right, limits};
use futures_util::stream;
use tokio::sync::OwnedSemaphorePermit;

use super::desk::Desk;
use super::{Routes, Visit};

pub(super) fn routes(routes: Routes) -> Routes {
    routes.get("/portal/live", Right::See, follow)
}

/// One page that follows.
struct Following {
    desk: Desk,
    member: Member,
    seen: Option<u64>,
    until: Duration,
    _place: Arc<OwnedSemaphorePermit>,
}

async fn follow(State(desk): State<Desk>, visit: Visit) -> Response {
    let Ok(place) = desk.live.clone().try_acquire_owned() else {
        // The page stays as it is, and asks again later.
        return StatusCode::NO_CONTENT.into_response();
    };
    let until = desk.app.rt().monotonic() + limits::LIVE_TIME;
    let following =
        Following { desk, member: visit.member, seen: None, until, _place: Arc::new(place) };
    let body = Body::from_stream(stream::unfold(following, next));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// The next thing to say; waits for it. A comment now and then finds out whether anybody listens.
async fn next(mut following: Following) -> Option<(Result<String, std::io::Error>, Following)> {
    let rt = following.desk.app.rt().clone();
    for _ in 0..QUIET_LOOKS {
        if following.desk.app.is_closing() || rt.monotonic() > following.until {
            return None;
        }
        let pulse = following.desk.app.pulse(following.member.caller()).await.ok();
        let before = following.seen;
        following.seen = pulse.or(before);
        if before.is_none() && pulse.is_some() {
            // What changed between the page and this first look is seen by looking once.
            return Some((Ok("retry: 2000\nevent: change\ndata: -\n\n".to_owned()), following));
        }
        if following.seen != before {
            return Some((Ok("event: change\ndata: -\n\n".to_owned()), following));
        }
        rt.sleep(limits::LIVE_LOOK).await;
    }
    Some((Ok(": still here\n\n".to_owned()), following))
}

/// Looks after which a comment is sent.
const QUIET_LOOKS: usize = 15;
