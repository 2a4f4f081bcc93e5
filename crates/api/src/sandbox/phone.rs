//! The phones of a sandbox organisation: `/sandbox/v1/esims/{iccid}/…`.

use app::esims::phone::{Act, Error};
use app::usage::{Charged, Place};
use axum::extract::State;
use domain::Msisdn;
use domain::esim::Esim;
use serde::Serialize;
use serde_json::{Value, json};

use crate::Api;
use crate::caller::BySandbox;
use crate::front::Body;
use crate::json::{Answer, Count, ok};
use crate::path::Params;
use crate::problem::Problem;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Phone {
    iccid: String,
    profile_status: &'static str,
    msisdn: String,
    country: String,
    network: String,
}

impl From<Esim> for Phone {
    fn from(esim: Esim) -> Self {
        let (country, network) =
            esim.seen.map(|seen| (seen.country, seen.network)).unwrap_or_default();
        Self {
            iccid: esim.iccid.to_string(),
            profile_status: esim.status.name(),
            msisdn: esim.msisdn.map(|msisdn| msisdn.to_string()).unwrap_or_default(),
            country,
            network,
        }
    }
}

/// `POST …/install`.
pub(crate) async fn install(
    by: BySandbox,
    State(api): State<Api>,
    params: Params,
) -> Result<Answer<Phone>, Problem> {
    act(&api, by, &params, Act::Install).await
}

/// `POST …/remove`.
pub(crate) async fn remove(
    by: BySandbox,
    State(api): State<Api>,
    params: Params,
) -> Result<Answer<Phone>, Problem> {
    act(&api, by, &params, Act::Remove).await
}

/// `POST …/attach`.
pub(crate) async fn attach(
    by: BySandbox,
    State(api): State<Api>,
    params: Params,
    Body(mut fields): Body,
) -> Result<Answer<Phone>, Problem> {
    let country = fields.text("country")?.ok_or_else(|| Problem::missing("country"))?;
    let network = fields.text("network")?.unwrap_or_default();
    act(&api, by, &params, Act::Attach(Place { country, network })).await
}

/// `POST …/msisdn`.
pub(crate) async fn number(
    by: BySandbox,
    State(api): State<Api>,
    params: Params,
    Body(mut fields): Body,
) -> Result<Answer<Phone>, Problem> {
    if !fields.has("msisdn") && !fields.is_null("msisdn") {
        return Err(Problem::missing("msisdn"));
    }
    let number = fields.text("msisdn")?.map(|text| Msisdn::parse(&text)).transpose();
    let number = number.map_err(|_| Problem::invalid("msisdn"))?;
    act(&api, by, &params, Act::Number(number)).await
}

async fn act(
    api: &Api,
    BySandbox(caller): BySandbox,
    params: &Params,
    act: Act,
) -> Result<Answer<Phone>, Problem> {
    let (esim, _) = api.app.phone(&caller, &params.iccid()?, act).await?;
    Ok(ok(esim.into()))
}

/// `POST …/use`.
pub(crate) async fn use_data(
    BySandbox(caller): BySandbox,
    State(api): State<Api>,
    params: Params,
    Body(mut fields): Body,
) -> Result<Answer<Value>, Problem> {
    let number = params.iccid()?;
    let bytes = match fields.count("bytes")? {
        Count::Absent => return Err(Problem::missing("bytes")),
        Count::Whole(bytes) => bytes,
        Count::Odd => return Err(Problem::invalid("bytes")),
    };
    let (esim, Charged { by, overshoot }) =
        api.app.phone(&caller, &number, Act::Use(bytes)).await?;
    let charged = by.into_iter().map(
        |(id, bundle, bytes)| json!({ "id": id.to_string(), "bundle": bundle, "bytes": bytes }),
    );
    let charged: Vec<_> = charged.collect();
    let iccid = esim.iccid.to_string();
    Ok(ok(json!({ "iccid": iccid, "charged": charged, "overshoot": overshoot })))
}

/// `GET …/messages`.
pub(crate) async fn messages(
    BySandbox(caller): BySandbox,
    State(api): State<Api>,
    params: Params,
) -> Result<Answer<Value>, Problem> {
    let found = api.app.messages(&caller, &params.iccid()?).await?;
    let kept = found.ok_or_else(|| Problem::denied("not-your-esim"))?;
    let message = |one: &app::esims::sms::Message| {
        let time = one.at.to_string();
        json!({ "from": one.sender, "message": one.body, "time": time })
    };
    Ok(ok(json!({ "messages": kept.iter().map(message).collect::<Vec<_>>() })))
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Live => Self::denied("live-organisation"),
            Error::NotYourEsim => Self::denied("not-your-esim"),
            Error::Deactivated => Self::bad_request("esim-deactivated", text),
            Error::Suspended => Self::bad_request("esim-suspended", text),
            Error::Unavailable => Self::bad_request("esim-unavailable", text),
            Error::Country | Error::Network | Error::Bytes => {
                Self::bad_request("invalid-parameter", text)
            }
            Error::Store(cause) => cause.into(),
        }
    }
}
