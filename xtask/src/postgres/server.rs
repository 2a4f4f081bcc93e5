//! One PostgreSQL server in a home: its certificates, its settings, its start and its stop.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::home::{CA, DATA, Home, SOCKETS};
use super::{Durability, NAME, signal};
use crate::{packages, process};

const START: Duration = Duration::from_mins(1);
const LOG: &str = "log";

/// Who may come in: everybody who can reach the socket's folder or this machine's loopback.
const ACCESS: &str = "local all all trust\nhost all all 127.0.0.1/32 trust\n";

/// Settings of openssl that depend on nothing installed. The server is known by both its names.
const CERTIFICATES: &str = "\
[req]
distinguished_name = name
prompt = no
[name]
CN = Tern test
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost, IP:127.0.0.1
";

/// A running server; dropping it stops it.
pub(super) struct Server {
    process: Child,
    pub(super) port: u16,
    pub(super) bin: PathBuf,
}

impl Server {
    pub(super) fn start(home: &Home, durability: Durability) -> Result<Self, String> {
        let bin = packages::postgres_bin()
            .ok_or("PostgreSQL is missing; `cargo xtask test --only packages` installs it")?;
        certificates(home)?;
        let mut init = home.command(&bin.join("initdb"));
        init.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"]);
        if durability == Durability::None {
            init.arg("--no-sync");
        }
        process::output(init.arg("--pgdata").arg(DATA))?;
        home.write(&format!("{DATA}/pg_hba.conf"), ACCESS)?;
        let server = Self::launch(home, &bin, durability)?;
        for (program, options) in
            [("createuser", &["--createdb", NAME][..]), ("createdb", &["--owner", NAME, NAME][..])]
        {
            process::output(server.client(home, program).args(options))?;
        }
        Ok(server)
    }

    /// Somebody else may take the free port before the server does, so there are three tries.
    fn launch(home: &Home, bin: &Path, durability: Durability) -> Result<Self, String> {
        let mut complaint = String::new();
        for _ in 0..3 {
            let port = free_port().map_err(|e| format!("no free port on the loopback: {e}"))?;
            let process = spawn(home, bin, port, durability)?;
            let mut server = Self { process, port, bin: bin.to_owned() };
            if server.is_ready(home) {
                return Ok(server);
            }
            let log = std::fs::read_to_string(home.dir.join(LOG)).unwrap_or_default();
            complaint = format!("PostgreSQL does not start; its log ends with\n{}", tail(&log));
        }
        Err(complaint)
    }

    fn is_ready(&mut self, home: &Home) -> bool {
        let mut ended = false;
        let mut ready = false;
        signal::wait(
            || {
                ended = !matches!(self.process.try_wait(), Ok(None));
                ready = !ended && process::output(&mut self.client(home, "pg_isready")).is_ok();
                ended || ready
            },
            START,
        );
        ready
    }

    /// A client program, as superuser over the socket.
    fn client(&self, home: &Home, program: &str) -> Command {
        let mut command = home.command(&self.bin.join(program));
        command.args(["--username=postgres", "--host"]).arg(home.dir.join(SOCKETS));
        command.arg(format!("--port={}", self.port));
        command
    }
}

impl Drop for Server {
    /// At once and without a checkpoint, for the data goes next.
    fn drop(&mut self) {
        // Once it has been waited for, its number may be somebody else's.
        if let Ok(Some(_)) = self.process.try_wait() {
            return;
        }
        signal::end(&self.process.id().to_string(), "QUIT");
        drop(self.process.wait());
    }
}

fn spawn(home: &Home, bin: &Path, port: u16, durability: Durability) -> Result<Child, String> {
    let log = File::create(home.dir.join(LOG)).map_err(|e| e.to_string())?;
    let errors = log.try_clone().map_err(|e| e.to_string())?;
    let mut command = home.command(&bin.join("postgres"));
    // The whole path, because by it a leftover server is known as ours.
    command.arg("-D").arg(home.dir.join(DATA));
    for setting in settings(home, port, durability) {
        command.arg("-c").arg(setting);
    }
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    command.spawn().map_err(|e| process::cannot_start(&command, &e))
}

fn settings(home: &Home, port: u16, durability: Durability) -> Vec<String> {
    let dir = home.dir.display();
    let mut settings = vec![
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        format!("unix_socket_directories={dir}/{SOCKETS}"),
        "max_connections=200".to_owned(),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={dir}/server.pem"),
        format!("ssl_key_file={dir}/server.key"),
    ];
    let switch = match durability {
        Durability::None => "off",
        Durability::Full => "on",
    };
    let names = ["fsync", "synchronous_commit", "full_page_writes"];
    settings.extend(names.map(|name| format!("{name}={switch}")));
    settings
}

/// An authority of our own and a certificate of the server, good for a month: nothing lives longer.
fn certificates(home: &Home) -> Result<(), String> {
    home.write("openssl.cnf", CERTIFICATES)?;
    let openssl = |arguments: &str| {
        let mut command = home.command(Path::new("openssl"));
        process::output(command.args(arguments.split_whitespace()))
    };
    let key = "-config openssl.cnf -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!("req -x509 {key} -keyout ca.key -out {CA} -days 30 -extensions ca"))?;
    openssl(&format!("req -new {key} -keyout server.key -out server.csr"))?;
    openssl(&format!(
        "x509 -req -in server.csr -CA {CA} -CAkey ca.key -set_serial 1 -out server.pem \
         -days 30 -extfile openssl.cnf -extensions server"
    ))?;
    Ok(())
}

fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bench_waits_for_the_disk() {
        let home = Home::create(Durability::None).expect("the folder for temporary files is open");
        let none = settings(&home, 5, Durability::None);
        let full = settings(&home, 5, Durability::Full);
        assert!(none.contains(&"fsync=off".to_owned()) && full.contains(&"fsync=on".to_owned()));
        assert!(full.iter().all(|setting| !setting.ends_with("=off")), "{full:?}");
    }

    #[test]
    fn a_log_is_cut_to_its_end() {
        let log = format!("first\n{}last\n", "between\n".repeat(30));
        assert_eq!(tail(&log), format!("{}last", "between\n".repeat(19)));
        assert_eq!(tail("a\n"), "a");
    }
}
