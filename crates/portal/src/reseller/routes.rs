//! The door of the portal. Every route is added here with the right it takes, so none can be
//! forgotten: who comes is known, the role allows it, and a form is one of our own, before a
//! handler sees anything.

use std::net::Ipv4Addr;
use std::sync::Arc;

use app::people::{Attempt, Origin};
use axum::Router;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use domain::{Right, limits};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::desk::Desk;
use super::entrance::{Stranger, is_within};
use super::fields::Fields;
use super::visit::{moved, said};
use super::{Form, Trouble, Visit};
use crate::kit::Theme;

/// Routes being collected.
pub(crate) struct Routes {
    desk: Desk,
    router: Router<Desk>,
}

impl Routes {
    pub(super) fn new(desk: Desk) -> Self {
        Self { desk, router: Router::new() }
    }

    /// A page for members with that right.
    pub(crate) fn get<H, T>(self, path: &'static str, right: Right, handler: H) -> Self
    where
        H: Handler<T, Desk>,
        T: 'static,
    {
        self.add(path, Some(right), get(handler))
    }

    /// A form for members with that right.
    pub(crate) fn post<H, T>(self, path: &'static str, right: Right, handler: H) -> Self
    where
        H: Handler<T, Desk>,
        T: 'static,
    {
        self.add(path, Some(right), post(handler))
    }

    /// A page for people who are not signed in.
    pub(super) fn open_get<H, T>(self, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, Desk>,
        T: 'static,
    {
        self.add(path, None, get(handler))
    }

    /// A form for people who are not signed in.
    pub(super) fn open_post<H, T>(self, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, Desk>,
        T: 'static,
    {
        self.add(path, None, post(handler))
    }

    fn add(
        mut self,
        path: &'static str,
        right: Option<Right>,
        handler: MethodRouter<Desk>,
    ) -> Self {
        let desk = self.desk.clone();
        let door = from_fn(move |request: Request, next: Next| {
            let desk = desk.clone();
            async move {
                let entered = match right {
                    Some(right) => enter(&desk, right, request).await,
                    None => approach(&desk, request).await,
                };
                match entered {
                    Ok(request) => next.run(request).await,
                    Err(response) => response,
                }
            }
        });
        self.router = self.router.route(path, handler.layer(door));
        self
    }

    pub(super) fn into_router(self) -> Router {
        let missing = get(|| async { Trouble::Missing });
        self.router.route("/portal/{*rest}", missing).with_state(self.desk)
    }
}

/// Lets a member in.
async fn enter(desk: &Desk, right: Right, request: Request) -> Result<Request, Response> {
    let (mut request, form) = with_form(desk, request).await?;
    let headers = request.headers();
    let token = cookie(headers, session_cookie(desk)).unwrap_or_default().to_owned();
    // Pages that load themselves again do not keep an abandoned browser signed in.
    let by_hand = headers.get("sec-fetch-dest").is_none_or(|to| to == "document");
    let member =
        if by_hand { desk.app.member(&token).await } else { desk.app.member_unseen(&token).await };
    let member = member.map_err(|error| Trouble::from(error).into_response());
    let Some(member) = member? else { return Err(to_sign_in(&request)) };
    let csrf = desk.app.form_token(&token);
    if request.method() == Method::POST && !is_ours(headers, &form, &csrf) {
        return Err(Trouble::Stranger.into_response());
    }
    if !member.may(right) {
        return Err(Trouble::Forbidden.into_response());
    }
    let visit = Visit {
        member,
        from: attempt(&request),
        csrf,
        once: desk.app.new_token(),
        now: desk.app.rt().now(),
        query: Fields::parse(request.uri().query().unwrap_or("")),
        path: path(&request),
        page: page(&request),
        token,
        theme: theme(headers),
        said: cookie(headers, "tern_said").and_then(said),
    };
    request.extensions_mut().insert(form);
    request.extensions_mut().insert(visit);
    Ok(request)
}

/// Lets somebody up to the entrance. Forms there are ours by a cookie of their own.
async fn approach(desk: &Desk, request: Request) -> Result<Request, Response> {
    let (mut request, form) = with_form(desk, request).await?;
    let headers = request.headers();
    let known = cookie(headers, "tern_visit").filter(|held| held.len() <= 64).map(str::to_owned);
    let held = known.clone().unwrap_or_else(|| desk.app.new_token());
    let csrf = desk.app.form_token(&held);
    if request.method() == Method::POST && !(known.is_some() && is_ours(headers, &form, &csrf)) {
        return Err(Trouble::Stranger.into_response());
    }
    let stranger = Stranger {
        from: attempt(&request),
        csrf,
        held: known.is_none().then_some(held),
        token: cookie(headers, session_cookie(desk)).unwrap_or_default().to_owned(),
        query: Fields::parse(request.uri().query().unwrap_or("")),
        theme: theme(headers),
        said: cookie(headers, "tern_said").and_then(said),
    };
    request.extensions_mut().insert(form);
    request.extensions_mut().insert(stranger);
    Ok(request)
}

/// Takes the form out of a request that carries one.
async fn with_form(desk: &Desk, request: Request) -> Result<(Request, Form), Response> {
    // No path of ours has one, and one of the databases takes none.
    if request.uri().path().contains("%00") {
        return Err(Trouble::Missing.into_response());
    }
    if request.method() != Method::POST {
        return Ok((request, Form::default()));
    }
    let (parts, body) = request.into_parts();
    let too_large = |_| StatusCode::PAYLOAD_TOO_LARGE.into_response();
    let bytes = tokio::select! {
        read = to_bytes(body, limits::BODY_BYTES_MAX) => read.map_err(too_large)?,
        // Nobody holds a place by never finishing a sentence.
        () = desk.app.rt().sleep(limits::BODY_READ) => {
            return Err(StatusCode::REQUEST_TIMEOUT.into_response());
        }
    };
    let fields = Fields::parse(&String::from_utf8_lossy(&bytes));
    let request = Request::from_parts(parts, axum::body::Body::empty());
    Ok((request, Form(Arc::new(fields))))
}

/// Whether a form comes from one of our pages: it carries the word that belongs to the cookie, and
/// the browser does not say that it comes from elsewhere.
fn is_ours(headers: &HeaderMap, form: &Form, csrf: &str) -> bool {
    let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    let is_near = site.is_none_or(|site| site == "same-origin" || site == "none");
    let sent = form.text("csrf").as_bytes();
    // Compared in full, so that time tells nothing about where the first difference is.
    let differs = sent.iter().zip(csrf.as_bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    is_near && sent.len() == csrf.len() && differs == 0
}

fn to_sign_in(request: &Request) -> Response {
    let path = path(request);
    if request.method() != Method::GET || path == "/portal" {
        return moved("/portal/sign-in", None);
    }
    let next = utf8_percent_encode(&path, NON_ALPHANUMERIC);
    moved(&format!("/portal/sign-in?next={next}"), None)
}

fn path(request: &Request) -> String {
    request.uri().path_and_query().map_or("/portal", |path| path.as_str()).to_owned()
}

/// Where somebody can come back to: what a form leads to cannot be asked for again.
fn page(request: &Request) -> String {
    if request.method() != Method::POST {
        return path(request);
    }
    let from = request.headers().get(header::REFERER).and_then(|value| value.to_str().ok());
    let from = from.and_then(|from| from.parse::<Uri>().ok());
    let from = from.and_then(|from| Some(from.path_and_query()?.as_str().to_owned()));
    from.filter(|from| is_within(from)).unwrap_or_else(|| "/portal".to_owned())
}

fn attempt(request: &Request) -> Attempt {
    let origin = request.extensions().get::<Origin>();
    let agent = request.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    let unknown = Ipv4Addr::UNSPECIFIED.into();
    Attempt {
        // Whoever speaks IPv4 to an IPv6 socket is still at an IPv4 address.
        address: origin.map_or(unknown, |Origin(address)| address.to_canonical()),
        agent: agent.unwrap_or("").to_owned(),
    }
}

fn theme(headers: &HeaderMap) -> Theme {
    Theme::parse(cookie(headers, "tern_theme").unwrap_or(""))
}

/// A browser takes the longer name only over HTTPS, from the host itself, for all of it.
pub(super) fn session_cookie(desk: &Desk) -> &'static str {
    if desk.is_secure { "__Host-tern_session" } else { "tern_session" }
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(found, _)| found.trim() == name).map(|(_, value)| value.trim())
}
