//! One visit of a member: who it is, what the page needs around its content, and the ways a handler
//! can answer.

use std::convert::Infallible;

use app::people::{Attempt, Member};
use app::{Answer, idempotency};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{Mode, Money, Right, Timestamp};
use maud::Markup;

use super::fields::Fields;
use super::trouble::answer;
use super::{FORM, Form, Trouble};
use crate::kit::{Area, Entry, Frame, Mood, Person, Said, Theme, figures};
use crate::words::{rail, trouble};

/// Somebody signed in looks at a page, or sends a form.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub(crate) member: Member,
    /// Where it comes from.
    pub(crate) from: Attempt,
    /// Makes forms ours.
    pub(crate) csrf: String,
    /// Makes a form that is sent twice one.
    pub(crate) once: String,
    /// The wall-clock time.
    pub(crate) now: Timestamp,
    /// What the address carries.
    pub(crate) query: Fields,
    /// The address itself, path and query.
    pub(crate) path: String,
    /// The page it belongs to: itself, or the one whose form led here.
    pub(super) page: String,
    pub(super) token: String,
    pub(super) theme: Theme,
    pub(super) said: Option<(Mood, String)>,
}

impl Visit {
    /// A page within the portal's frame.
    pub(crate) fn page(
        &self,
        (here, title): (Area, &str),
        action: Option<Markup>,
        content: Markup,
    ) -> Response {
        self.framed((here, title), (action, content), false)
    }

    /// The same with parts that follow changes.
    pub(crate) fn live_page(
        &self,
        (here, title): (Area, &str),
        action: Option<Markup>,
        content: Markup,
    ) -> Response {
        self.framed((here, title), (action, content), true)
    }

    fn framed(
        &self,
        (here, title): (Area, &str),
        (action, content): (Option<Markup>, Markup),
        live: bool,
    ) -> Response {
        let user = self.member.user();
        let name = format!("{} {}", user.first_name, user.last_name);
        let name = Some(name.trim()).filter(|name| !name.is_empty()).unwrap_or(user.email.as_str());
        let said = self.said.as_ref().map(|(kind, text)| Said { kind: *kind, text });
        let entries: Vec<Entry> = rail::ENTRIES
            .iter()
            .filter(|(_, _, _, right)| self.may(*right))
            .map(|(label, href, area, _)| Entry { label, href, area: *area })
            .collect();
        let frame = Frame {
            title,
            organisation: &self.member.organisation().profile.name,
            person: Person { name, role: user.role.name() },
            here,
            entries: &entries,
            sandbox: self.member.caller().mode() == Mode::Sandbox,
            said,
            csrf: &self.csrf,
            theme: self.theme,
            path: &self.page,
            live,
        };
        let mut response = answer(StatusCode::OK, &frame.page(action, content));
        if self.said.is_some() {
            // It was said; the next page is quiet.
            let gone = HeaderValue::from_static("tern_said=; Path=/portal; Max-Age=0");
            response.headers_mut().append(header::SET_COOKIE, gone);
        }
        response
    }

    /// An amount, for those who may see the books.
    pub(crate) fn money(&self, amount: Money) -> Markup {
        if self.may(Right::Books) { figures::money(amount) } else { figures::none() }
    }

    /// Whether the person's role allows that; pages hide what it does not.
    pub(crate) fn may(&self, right: Right) -> bool {
        self.member.may(right)
    }

    /// Something the role does not allow is not done, whatever page it is on.
    pub(crate) fn must(&self, right: Right) -> Result<(), Trouble> {
        if self.may(right) { Ok(()) } else { Err(Trouble::Forbidden) }
    }

    /// The request behind a form: the same one twice has one effect. Noted in the audit log.
    pub(crate) fn request(
        &self,
        app: &app::App,
        form: &Form,
        (action, target): (&'static str, &str),
    ) -> Result<idempotency::Request, Trouble> {
        let once = form.maybe("once").ok_or(Trouble::Malformed(trouble::NO_TOKEN))?;
        let mut facts = form.facts(&["csrf", "once"]);
        facts.extend_from_slice(self.path.as_bytes());
        Ok(idempotency::Request {
            key: Some(format!("{FORM} {once}")),
            facts,
            form: FORM.to_owned(),
            deed: Some(app.deed(self.member.actor(), action, target)),
        })
    }
}

/// On to a page that says what was done.
pub(crate) fn done(path: &str, says: impl Into<String>) -> Response {
    moved(path, Some((Mood::Good, says.into())))
}

/// Back to a page that says why it was not.
pub(crate) fn refused(path: &str, says: impl Into<String>) -> Response {
    moved(path, Some((Mood::Bad, says.into())))
}

/// What became of a form's request: on to the page it names, or back, with what there is to say.
pub(crate) fn follow(answer: &Answer, back: &str) -> Response {
    let text = String::from_utf8_lossy(&answer.body);
    if !answer.is_yes() {
        return refused(back, text);
    }
    let (path, says) = text.split_once('\n').unwrap_or((&text, ""));
    let path = if path.is_empty() { back } else { path };
    if says.is_empty() { moved(path, None) } else { done(path, says) }
}

impl<S: Sync> FromRequestParts<S> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // A route outside `Routes` would have no visit; none can be added there by accident, since
        // nothing else makes routers here.
        Ok(parts.extensions.get::<Self>().cloned().expect("every route is behind the door"))
    }
}

/// On to another page, which may say something once.
pub(super) fn moved(path: &str, says: Option<(Mood, String)>) -> Response {
    let location = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/portal"));
    let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response();
    if let Some((mood, text)) = says {
        let text: String = text.chars().take(SAID_CHARS_MAX).collect();
        let mark = if mood == Mood::Good { '+' } else { '-' };
        let value = URL_SAFE_NO_PAD.encode(format!("{mark}{text}"));
        let cookie = format!("tern_said={value}; Path=/portal; Max-Age=60; HttpOnly; SameSite=Lax");
        let cookie = HeaderValue::from_str(&cookie).expect("base 64 fits into a header");
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// What a cookie says, to be shown once.
pub(super) fn said(cookie: &str) -> Option<(Mood, String)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cookie).ok()?).ok()?;
    let mood = if text.starts_with('+') { Mood::Good } else { Mood::Bad };
    Some((mood, text.get(1..)?.to_owned()))
}

/// A cookie has room for some four thousand bytes.
const SAID_CHARS_MAX: usize = 600;
