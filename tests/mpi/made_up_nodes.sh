# Sourced by scripts that make up several nodes on this machine. These have one address, and to another node's Open MPI's own
# TCP refuses that since 6.0: there messages between them go by UCX.
case $(mpirun --version 2>/dev/null) in
  *'(Open MPI) '[1-5].* | '') ;;
  *)
    export OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any OMPI_MCA_osc=^ucx UCX_TLS="${UCX_TLS:-tcp,self}"
    ;;
esac
