"""What is known about Python names; data only."""

from __future__ import annotations

from .wordlist import name_set

DELETES = name_set(
    "os.remove os.unlink os.rmdir os.removedirs shutil.rmtree send2trash.send2trash "
    "distutils.dir_util.remove_tree"
)
# Methods that delete, whatever they are called on (pathlib, fsspec, storage clients).
DELETING_METHODS = name_set("unlink rmdir rmtree remove_tree delete_file rm_file")

SHELL_CALLS = name_set(
    "os.system os.popen subprocess.run subprocess.call subprocess.Popen subprocess.check_call "
    "subprocess.check_output subprocess.getoutput subprocess.getstatusoutput "
    "asyncio.create_subprocess_shell asyncio.subprocess.create_subprocess_shell pty.spawn "
    "pexpect.spawn pexpect.run sh.Command commands.getoutput get_ipython().system "
    "get_ipython().getoutput get_ipython().system_raw get_ipython().system_piped "
    "get_ipython().getoutput_split"
)
# The words of the command are the arguments themselves; the number is the first word's position.
ARGUMENT_CALLS: dict[str, int] = {
    "asyncio.create_subprocess_exec": 0,
    "asyncio.subprocess.create_subprocess_exec": 0,
    "os.execl": 1,
    "os.execle": 1,
    "os.execlp": 1,
    "os.execlpe": 1,
    "os.spawnl": 2,
    "os.spawnle": 2,
    "os.spawnlp": 2,
    "os.spawnlpe": 2,
}
# The words of the command are one list; the number is its position.
LIST_CALLS: dict[str, int] = {
    "os.execv": 1,
    "os.execve": 1,
    "os.execvp": 1,
    "os.execvpe": 1,
    "os.spawnv": 2,
    "os.spawnve": 2,
    "os.spawnvp": 2,
    "os.spawnvpe": 2,
    "os.posix_spawn": 1,
    "os.posix_spawnp": 1,
}
RUNNERS = SHELL_CALLS | ARGUMENT_CALLS.keys() | LIST_CALLS.keys()

# Code that is not in the text: looked at only if it is a constant.
CODE_CALLS = name_set(
    "eval exec compile get_ipython().run_cell get_ipython().ex get_ipython().ev "
    "get_ipython().run_cell_async get_ipython().run_code code.interact timeit.timeit "
    "timeit.repeat"
)
UNREADABLE = name_set(
    "marshal.loads marshal.load types.CodeType types.FunctionType runpy.run_path "
    "runpy.run_module ctypes.CDLL ctypes.cdll ctypes.PyDLL ctypes.pythonapi "
    "ctypes.util.find_library cffi.FFI importlib.util.spec_from_loader "
    "importlib.machinery.SourcelessFileLoader get_ipython().run_code sys.settrace "
    "gc.get_objects"
)
GADGETS = name_set(
    "__subclasses__ __globals__ __builtins__ __code__ __getattribute__ __reduce__ "
    "__reduce_ex__ f_globals f_builtins f_locals gi_frame cr_frame tb_frame"
)
# Modules whose attributes may not be looked up by a computed name.
GUARDED_MODULES = name_set(
    "os posix nt shutil subprocess pathlib builtins __builtins__ importlib sys pty ctypes "
    "socket asyncio get_ipython()"
)

# Modules that are high when they are handed on as a whole.
HANDED_ON_MODULES = name_set("os shutil subprocess builtins importlib ctypes get_ipython()")

NETWORK_MODULES = name_set(
    "requests httpx aiohttp urllib.request urllib3 http.client socket ftplib smtplib imaplib "
    "poplib telnetlib nntplib xmlrpc.client paramiko fabric asyncssh boto3 botocore "
    "aiobotocore s3fs gcsfs google.cloud azure.storage websocket websockets pycurl tweepy "
    "praw openai anthropic litellm huggingface_hub kaggle yfinance wget gdown selenium "
    "playwright scapy ssl socketserver psycopg psycopg2 pymysql pymongo redis dns.resolver "
    "kafka pika zmq grpc"
)
NETWORK_CALLS = name_set(
    "asyncio.open_connection asyncio.start_server asyncio.open_unix_connection "
    "datasets.load_dataset nltk.download sklearn.datasets.fetch_openml torch.hub.load "
    "torch.hub.download_url_to_file seaborn.load_dataset"
)

KERNEL_MODULES = name_set(
    "jupyter_client jupyter_server jupyter_server_client jupyter_kernel_client notebook "
    "jupyter_console"
)
KERNEL_CALLS = name_set(
    "jupyter_core.paths.jupyter_runtime_dir ipykernel.connect.get_connection_file "
    "ipykernel.connect.get_connection_info ipykernel.get_connection_file "
    "ipykernel.get_connection_info ipykernel.connect.connect_qtconsole"
)

INSTALLER_MODULES = name_set("pip ensurepip easy_install micropip piplite conda pkg_resources")
INSTALLER_CALLS = name_set("micropip.install piplite.install pip.main")

PRIVILEGE_CALLS = name_set(
    "os.setuid os.setgid os.seteuid os.setegid os.setreuid os.setresuid os.setgroups "
    "os.chroot os.mknod os.chown os.lchown os.unshare os.setns"
)

WRITE_CALLS: dict[str, tuple[int, ...]] = {
    "shutil.copy": (1,),
    "shutil.copy2": (1,),
    "shutil.copyfile": (1,),
    "shutil.copytree": (1,),
    "shutil.unpack_archive": (1,),
    "shutil.make_archive": (0,),
    "os.makedirs": (0,),
    "os.mkdir": (0,),
    "os.mkfifo": (0,),
    "os.symlink": (1,),
    "os.link": (1,),
    "os.chmod": (0,),
    "os.utime": (0,),
    "os.open": (0,),
    "numpy.save": (0,),
    "numpy.savez": (0,),
    "numpy.savez_compressed": (0,),
    "numpy.savetxt": (0,),
    "joblib.dump": (1,),
    "torch.save": (1,),
    "cv2.imwrite": (0,),
    "sqlite3.connect": (0,),
}
MOVE_CALLS = frozenset({"shutil.move", "os.rename", "os.replace", "os.renames"})

WRITE_METHODS = name_set(
    "to_csv to_parquet to_excel to_json to_pickle to_html to_feather to_hdf to_stata to_sql "
    "to_latex to_markdown to_xml savefig save write_image write_html write_csv write_parquet "
    "write_json imwrite imsave extractall save_pretrained save_model tofile write_file"
)
PATH_WRITES = name_set("write_text write_bytes mkdir touch symlink_to hardlink_to chmod")
READ_CALLS_WITH_URL = (
    "read_",
    "load_",
    "open",
    "urlopen",
    "urlretrieve",
    "fetch",
    "get",
    "post",
    "imread",
)
STAR_MODULES = name_set("os shutil subprocess pathlib builtins posix")
