//! Words of: Billing: card, top-ups, automatic top-up, statement.
