//! What a person does to the own account: password, second factor, sessions, name.

use domain::{OrgId, Secret, Timestamp, limits};
use store::{StoreError, sessions, users};

use super::sign_in::{factor_since, forgive, owner_of_factor};
use super::{Attempt, Member, Session, SignInError, totp};
use crate::{App, password};

/// Why a person's account stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The password is not the person's.
    #[error("the password is wrong")]
    WrongPassword,
    /// The code is wrong.
    #[error("the code is wrong")]
    WrongCode,
    /// There were too many wrong ones.
    #[error("too many wrong passwords")]
    Wait(Timestamp),
    /// The link was used, has expired, or never was one.
    #[error("this link is not good any more")]
    NoLink,
    /// There is a second factor already.
    #[error("the second factor is on; switch it off first")]
    HasFactor,
    /// A text is too long.
    #[error("names, telephone number and time zone have at most 1000 characters")]
    TooLong,
    /// The new password does not fit.
    #[error(transparent)]
    Unfit(#[from] password::Unfit),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SignInError> for Error {
    fn from(error: SignInError) -> Self {
        match error {
            SignInError::Wait(until) => Self::Wait(until),
            SignInError::Store(cause) => Self::Store(cause),
            SignInError::WrongCode => Self::WrongCode,
            SignInError::Wrong | SignInError::TooLate => Self::WrongPassword,
        }
    }
}

/// A second factor that is yet to be confirmed, as an app wants it.
#[derive(Debug)]
pub struct Factor {
    /// To be typed.
    pub secret: Secret<String>,
    /// To be scanned.
    pub link: Secret<String>,
}

impl App {
    /// Whether whoever sits at the browser knows the person's password. Wrong ones are counted.
    pub async fn confirm_password(
        &self,
        member: &Member,
        password: &Secret<String>,
        from: &Attempt,
    ) -> Result<(), Error> {
        let counted = self.counted(member.user.email.as_str(), from.address);
        let counted = self.count_attempt(counted).await?;
        let hash = member.user.password_hash.clone();
        if !self.password_fits(password.clone(), hash).await {
            return Err(Error::WrongPassword);
        }
        Ok(self.store().write(OrgId::HOUSE, move |tx| forgive(tx, &counted)).await?)
    }

    /// Changes the password. All other sessions end.
    pub async fn change_password(
        &self,
        member: &Member,
        (old, new): (&Secret<String>, &Secret<String>),
        from: &Attempt,
    ) -> Result<(), Error> {
        self.confirm_password(member, old, from).await?;
        let hash = self.hashed(new).await?;
        let (member, act) = (member.clone(), self.act(member.actor(), "user.password"));
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                let mut account = users::find(tx, member.user.id)?.ok_or(Error::NoLink)?;
                account.user.password_hash = Some(hash.clone());
                users::update(tx, &account.user)?;
                sessions::drop_links(tx, member.user.id)?;
                sessions::end_others(tx, member.user.id, &member.session)?;
                act.note(tx, Some(member.org()), member.user.id, "")?;
                Ok(())
            })
            .await
    }

    /// Changes what a person is called and reached by.
    pub async fn change_me(
        &self,
        member: &Member,
        [first_name, last_name, phone, time_zone]: [String; 4],
    ) -> Result<(), Error> {
        let too_long = |text: &&String| text.chars().count() > limits::TEXT_CHARS_MAX;
        if [&first_name, &last_name, &phone, &time_zone].iter().any(too_long) {
            return Err(Error::TooLong);
        }
        let (member, act) = (member.clone(), self.act(member.actor(), "user.change"));
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                let mut account = users::find(tx, member.user.id)?.ok_or(Error::NoLink)?;
                account.user.first_name.clone_from(&first_name);
                account.user.last_name.clone_from(&last_name);
                account.user.phone.clone_from(&phone);
                account.user.time_zone.clone_from(&time_zone);
                users::update(tx, &account.user)?;
                act.note(tx, Some(member.org()), member.user.id, "")?;
                Ok(())
            })
            .await
    }

    /// The person's sessions, the newest first, and which of them is this one.
    pub async fn my_sessions(&self, member: &Member) -> Result<Vec<(Session, bool)>, StoreError> {
        let (user, now) = (member.user.id, self.now());
        let sessions = self.store().read(move |tx| sessions::of_user(tx, user, now)).await?;
        let mark = |session: Session| {
            let is_this = session.digest == member.session;
            (session, is_this)
        };
        Ok(sessions.into_iter().map(mark).collect())
    }

    /// Ends every session of the person but this one.
    pub async fn sign_out_elsewhere(&self, member: &Member) -> Result<u64, StoreError> {
        let (member, act) = (member.clone(), self.act(member.actor(), "user.sign-out-elsewhere"));
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                let ended = sessions::end_others(tx, member.user.id, &member.session)?;
                act.note(tx, Some(member.org()), member.user.id, "")?;
                Ok(ended)
            })
            .await
    }

    /// Makes a second factor, which counts once a code of it was given.
    pub async fn new_factor(
        &self,
        member: &Member,
        password: &Secret<String>,
        from: &Attempt,
    ) -> Result<Factor, Error> {
        // Whoever finds an open browser must not lock its owner out.
        self.confirm_password(member, password, from).await?;
        let secret = self.rt().random::<{ totp::SECRET_BYTES }>();
        let user = member.user.id;
        let sealed = self.vault().seal(self.rt().random(), &owner_of_factor(user), &secret);
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                // Whoever finds an open browser must not swap the factor for an own one.
                let account = users::find(tx, user)?.ok_or(Error::NoLink)?;
                if account.factor.is_some_and(|factor| factor.on_at.is_some()) {
                    return Err(Error::HasFactor);
                }
                Ok(users::set_factor(tx, user, &sealed)?)
            })
            .await?;
        let text = totp::base32(&secret);
        let link = totp::link(member.user.email.as_str(), &text);
        Ok(Factor { secret: Secret::new(text), link: Secret::new(link) })
    }

    /// From now on signing in takes a code. Other sessions, begun without one, end.
    pub async fn confirm_factor(
        &self,
        member: &Member,
        code: &str,
        from: &Attempt,
    ) -> Result<(), Error> {
        let (user, now) = (member.user.id, self.now());
        let counted = self.counted(&format!("code of {user}"), from.address);
        let counted = self.count_attempt(counted).await?;
        let account = self.store().read(move |tx| users::find(tx, user)).await?;
        let account = account.ok_or(Error::NoLink)?;
        let step = self.code_step(&account, code).ok_or(Error::WrongCode)?;
        let (member, act) = (member.clone(), self.act(member.actor(), "user.second-factor.on"));
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                if !users::use_factor(tx, user, step, factor_since(&account, now))? {
                    return Err(Error::WrongCode);
                }
                forgive(tx, &counted)?;
                sessions::end_others(tx, user, &member.session)?;
                act.note(tx, Some(member.org()), user, "")?;
                Ok(())
            })
            .await
    }

    /// Signing in takes the password alone again.
    pub async fn drop_factor(
        &self,
        member: &Member,
        password: &Secret<String>,
        from: &Attempt,
    ) -> Result<(), Error> {
        self.confirm_password(member, password, from).await?;
        let (member, act) = (member.clone(), self.act(member.actor(), "user.second-factor.off"));
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                users::drop_factor(tx, member.user.id)?;
                act.note(tx, Some(member.org()), member.user.id, "")?;
                Ok(())
            })
            .await
    }
}
