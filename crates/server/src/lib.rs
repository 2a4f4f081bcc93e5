//! The binary's insides: settings, wiring, sub-commands, start and stop. No rule lives here.

mod answers;
pub mod cli;
mod commands;
mod config;
mod demo;
mod doctor;
mod listen;
mod logs;
mod opened;
mod output;
mod serve;
mod simulate;
mod tls;

pub use config::Config;
