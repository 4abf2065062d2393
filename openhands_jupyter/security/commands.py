"""What is known about shell commands; data only."""

from __future__ import annotations

from .wordlist import name_set

SHELLS = name_set("sh bash dash zsh ksh ash fish rbash")
PYTHONS = name_set("python python2 python3 pypy pypy3 ipython ipython3")

# Options of a wrapper that take a value of their own; what follows the options is a command.
WRAPPERS: dict[str, frozenset[str]] = {
    "!": frozenset(),
    "builtin": frozenset(),
    "chronic": frozenset(),
    "chrt": frozenset({"-T", "-P", "-D"}),
    "command": frozenset(),
    "coproc": frozenset(),
    "env": frozenset({"-u", "--unset", "-C", "--chdir"}),
    "exec": frozenset({"-a"}),
    "ionice": frozenset({"-c", "-n", "-p", "--class", "--classdata"}),
    "ltrace": frozenset({"-e", "-o", "-p", "-s"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "nocache": frozenset(),
    "nohup": frozenset(),
    "noglob": frozenset(),
    "setsid": frozenset(),
    "stdbuf": frozenset({"-i", "-o", "-e", "--input", "--output", "--error"}),
    "strace": frozenset({"-e", "-o", "-p", "-s"}),
    "taskset": frozenset(),
    "time": frozenset({"-f", "-o", "--format", "--output"}),
    "timeout": frozenset({"-k", "-s", "--kill-after", "--signal"}),
    "unbuffer": frozenset(),
    "watch": frozenset({"-n", "--interval"}),
    "xargs": name_set("-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs"),
    "xvfb-run": frozenset({"-n", "-s", "-e", "-f"}),
    "busybox": frozenset(),
    "toybox": frozenset(),
    "parallel": name_set("-j -N -n -I -a -d --jobs"),
}
# Words before the command that are not options: the duration of timeout, the mask of taskset.
WRAPPER_OPERANDS = {"timeout": 1, "taskset": 1, "chrt": 1}

BACKGROUND = name_set("nohup setsid disown daemonize screen tmux")

PRIVILEGE = name_set(
    "sudo doas su pkexec runuser chroot mount umount unshare nsenter bwrap setcap capsh "
    "setpriv modprobe insmod rmmod sysctl systemctl service useradd usermod userdel passwd "
    "chpasswd visudo crontab at batch iptables nft docker podman nerdctl ctr lxc kubectl "
    "reboot shutdown poweroff halt mkfs fdisk parted losetup swapon swapoff"
)

DELETERS = name_set("rm rmdir unlink shred srm wipe trash trash-put gio-trash")

NETWORK = name_set(
    "curl wget wget2 aria2c axel http https httpie xh ssh scp sftp ssh-copy-id sshfs nc ncat "
    "netcat socat telnet ftp lftp tftp ping ping6 traceroute tracepath mtr dig nslookup host "
    "whois drill nmap gh glab hub aws gcloud gsutil az s3cmd rclone mosh rsh rlogin "
    "openssl-s_client ngrok cloudflared huggingface-cli hf kaggle dvc lynx w3m links elinks "
    "yt-dlp youtube-dl"
)

KILLERS = name_set("kill pkill killall killall5 skill xkill fuser")

# Command -> subcommands that install or remove; an empty set means that any use does.
INSTALLERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("pip", "pip3"), frozenset({"install", "uninstall", "download", "wheel", "config", "cache"})
    ),
    "pipx": name_set("install uninstall upgrade upgrade-all reinstall inject run"),
    **dict.fromkeys(
        ("conda", "mamba", "micromamba"),
        name_set("install uninstall remove update upgrade create env clean config"),
    ),
    "uv": name_set("add remove sync pip tool lock python self run x"),
    "poetry": name_set("install add remove update self"),
    "pdm": name_set("install add remove update sync"),
    "pixi": name_set("install add remove update global"),
    "rye": name_set("install add remove sync"),
    "hatch": name_set("env"),
    "pipenv": name_set("install uninstall update sync"),
    **dict.fromkeys(
        ("apt", "apt-get", "aptitude", "yum", "dnf", "microdnf", "zypper"),
        name_set(
            "install remove purge update upgrade full-upgrade dist-upgrade autoremove reinstall "
            "build-dep clean"
        ),
    ),
    "apk": name_set("add del update upgrade fix"),
    "brew": name_set("install uninstall upgrade update tap reinstall cleanup"),
    "port": name_set("install uninstall upgrade"),
    "snap": name_set("install remove refresh"),
    "flatpak": name_set("install uninstall update"),
    "nix-env": frozenset(),
    **dict.fromkeys(("dpkg", "rpm", "pacman", "emerge", "easy_install"), frozenset[str]()),
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "bun"),
        name_set(
            "install i ci add remove rm uninstall update upgrade up link dlx exec x create init "
            "publish"
        ),
    ),
    **dict.fromkeys(("npx", "pnpx", "bunx", "uvx"), frozenset[str]()),
    "corepack": frozenset(),
    "cargo": name_set("install uninstall add remove update publish"),
    "go": name_set("install get"),
    "gem": name_set("install uninstall update"),
    "bundle": name_set("install add update"),
    "composer": name_set("install require update remove"),
    "cpan": frozenset(),
    "cpanm": frozenset(),
    "luarocks": name_set("install remove"),
    "playwright": name_set("install install-deps uninstall"),
    "ensurepip": frozenset(),
}

# Interpreters whose programs are not read here: the options that bring a program with them.
UNREAD_CODE: dict[str, frozenset[str]] = {
    "perl": name_set("-e -E -n -p -i -ne -pe -pi -lne -lpe -pie"),
    "ruby": name_set("-e -ne -pe -i"),
    "node": name_set("-e -p --eval --print -pe"),
    "nodejs": name_set("-e -p --eval --print -pe"),
    "deno": frozenset({"eval"}),
    "php": name_set("-r -B -R -E"),
    "lua": frozenset({"-e"}),
    "luajit": frozenset({"-e"}),
    "julia": name_set("-e -E --eval --print"),
    "Rscript": frozenset({"-e"}),
    "R": frozenset({"-e"}),
    "osascript": frozenset({"-e"}),
    "expect": frozenset({"-c"}),
    "tclsh": frozenset(),
    "gdb": name_set("-ex -x -batch --eval-command"),
    "vim": name_set("-c -S -es"),
    "vi": name_set("-c -S"),
    "ex": frozenset(),
    "ed": frozenset(),
    "emacs": name_set("--eval --batch -l"),
}

# Commands whose operands are written. "last": the last one; "all": each of them.
WRITERS: dict[str, str] = {
    "tee": "all",
    "sponge": "all",
    "touch": "all",
    "mkdir": "all",
    "mkfifo": "all",
    "chown": "all",
    "chgrp": "all",
    "setfacl": "all",
    "chattr": "all",
    "gzip": "all",
    "gunzip": "all",
    "bzip2": "all",
    "xz": "all",
    "patch": "all",
    "cp": "last",
    "mv": "last",
    "ln": "last",
    "link": "last",
    "install": "last",
    "rsync": "last",
    "zip": "first",
}
# Options whose value is a file or folder that is written.
OUTPUT_OPTIONS: dict[str, frozenset[str]] = {
    "tar": frozenset({"-C", "--directory"}),
    "unzip": frozenset({"-d"}),
    "curl": frozenset({"-o", "--output", "--output-dir"}),
    "wget": frozenset({"-O", "-P", "--output-document", "--directory-prefix"}),
    "sort": frozenset({"-o", "--output"}),
    "cp": frozenset({"-t", "--target-directory"}),
    "mv": frozenset({"-t", "--target-directory"}),
    "install": frozenset({"-t", "--target-directory"}),
    "gcc": frozenset({"-o"}),
    "cc": frozenset({"-o"}),
    "g++": frozenset({"-o"}),
    "clang": frozenset({"-o"}),
    "patch": frozenset({"-o", "--output", "-d", "--directory"}),
    "split": frozenset(),
    "find": name_set("-fprint -fprint0 -fprintf -fls"),
    "jq": frozenset(),
}

# Variables that make later programs run something that nobody reads here.
LOADER_VARIABLES = name_set(
    "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT BASH_ENV ENV PROMPT_COMMAND PS4 PYTHONSTARTUP "
    "PYTHONHOME PERL5OPT PERL5LIB RUBYOPT NODE_OPTIONS GIT_SSH GIT_SSH_COMMAND GIT_PAGER "
    "GIT_EDITOR GIT_EXTERNAL_DIFF GIT_ASKPASS PAGER EDITOR VISUAL MANPAGER LESSOPEN IFS PATH"
)

GIT_DISCARDS: dict[str, str] = {
    "clean": "Deletes files that Git does not know",
    "rm": "Deletes files with Git",
    "restore": "Discards changes that are not committed",
    "rebase": "Rewrites the Git history",
    "filter-branch": "Rewrites the Git history",
    "filter-repo": "Rewrites the Git history",
    "replace": "Rewrites the Git history",
    "update-ref": "Rewrites the Git history",
    "gc": "Removes old Git objects",
    "prune": "Removes old Git objects",
}
GIT_NETWORK = name_set(
    "push pull fetch clone ls-remote submodule remote-update send-email request-pull "
    "archive-remote lfs svn p4"
)
GIT_RECORDS = name_set("commit merge cherry-pick revert am apply switch tag notes pull")
