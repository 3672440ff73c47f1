"""A folder of the build in which a test compiles: the same each time, so that ccache finds what it compiled before."""
import pathlib
import shutil


def compiler_folder(path):
    """`path`, empty."""
    folder = pathlib.Path(path).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def launched(compiler):
    """The command that compiles with it: through ccache where that is installed."""
    ccache = shutil.which("ccache")
    return [ccache, compiler] if ccache else [compiler]
