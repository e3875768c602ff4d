# Spack's recipe, with the words between @ filled in by `scripts/package recipes`. In a repository of one's own:
# PACKAGES/colltopo/package.py, then `spack install colltopo`.
from spack.package import *


class Colltopo(CMakePackage):
    """Topology-aware MPI collectives: schedules that are proved before they run, an Open MPI component that runs them, and
    a command that makes, proves, prices and draws them."""

    homepage = "@ADDRESS@"
    git = "@ADDRESS@"
    url = "@ARCHIVE@"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("@VERSION@", sha256="@CHECKSUM@")

    variant("component", default=True, description="Build coll/topo, the Open MPI component")
    variant("ucx", default=True, description="Messages of its own on the routes that a schedule names")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("fmt@9:")
    depends_on("googletest@1.12: +gmock", type="test")
    depends_on("openmpi@4.1:")
    depends_on("hwloc@2:")
    depends_on("ucx", when="+ucx")
    depends_on("clp")
    depends_on("cbc")
    depends_on("bliss")
    depends_on("gmp")
    depends_on("pugixml")
    depends_on("yaml-cpp")
    depends_on("zlib-api")
    depends_on("openblas")
    depends_on("fftw")

    @run_before("cmake")
    def unpack_open_mpi(self):
        """Spack's Open MPI is installed without its development headers: they come from its source, which its own recipe
        fetches and checks."""
        if self.spec.satisfies("+component"):
            with self.spec["openmpi"].package.stage as stage:
                stage.fetch()
                stage.check()
                stage.expand_archive()
                install_tree(stage.source_path, join_path(self.stage.source_path, "openmpi-source"))

    def cmake_args(self):
        args = [
            self.define("COLLTOPO_TESTS", self.run_tests),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            # Not into Open MPI's prefix, which is another package's.
            self.define("COLLTOPO_COMPONENT_DIR", join_path(self.prefix, "lib", "openmpi")),
        ]
        if self.spec.satisfies("+component"):
            args.append(self.define("COLLTOPO_OPENMPI_SOURCE", join_path(self.stage.source_path, "openmpi-source")))
        return args

    def setup_run_environment(self, env):
        if self.spec.satisfies("+component"):
            env.set("OMPI_MCA_mca_base_component_path", f"SYSTEM_DEFAULT:{self.prefix.lib.openmpi}")
            env.set("PMIX_MCA_mca_base_component_path", self.prefix.share.colltopo)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_installed(self):
        Executable(self.prefix.bin.colltopo)("bound", "alltoall", "torus:3x3")
