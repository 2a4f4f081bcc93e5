//! The entries of the rail: at most eight, each for those whose role leads there.

use domain::Right;

use crate::kit::Area;

/// Label, address, area, and the right that shows it.
pub(crate) const ENTRIES: [(&str, &str, Area, Right); 8] = [
    ("Overview", "/portal", Area::Home, Right::See),
    ("Catalogue", "/portal/catalogue", Area::Catalogue, Right::See),
    ("eSIMs", "/portal/esims", Area::Esims, Right::See),
    ("Orders", "/portal/orders", Area::Orders, Right::See),
    ("Inventory", "/portal/inventory", Area::Inventory, Right::See),
    ("Billing", "/portal/billing", Area::Money, Right::Books),
    ("Developers", "/portal/developers", Area::Developers, Right::Develop),
    ("Team", "/portal/team", Area::Team, Right::Manage),
];
