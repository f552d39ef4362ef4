// Sizes of a world's memory: the model's, and the slots chosen for the batch.
#pragma once

#include "model/flat.h"
#include "model/segment.h"
#include "world/solver_fields.h"

namespace batchsim {

struct Sizes {
  int nq, nv, nu, na, nbody, njnt, ngeom, nsite, nsensordata, nM, npair, nchain, nfric, nlimit;
  int nconmax;  ///< contacts a world
  int njmax;    ///< constraint rows a world
  int width;    ///< worlds of a tile
  int chunk;    ///< geom pairs that collision works at once
  int njslot;   ///< rows with a Jacobian that a tile may hold: no two worlds need share a slot
  int nslot;    ///< rows that a tile may hold
  int nJ;       ///< entries of J: a chain may run through all DoFs
  int nH;       ///< entries of the solver's Hessian: the elimination tree may be one chain
  int nword;    ///< 32-bit words of a set of DoFs
  bool team;    ///< several members share a tile
  int nfactor;  ///< scratch of factor_m

  Sizes() = default;
  Sizes(const FlatModel& m, int nconmax, int njmax, int width, int chunk)
      : nq(m.nq),
        nv(m.nv),
        nu(m.nu),
        na(m.na),
        nbody(m.nbody),
        njnt(m.njnt),
        ngeom(m.ngeom),
        nsite(m.nsite),
        nsensordata(m.nsensordata),
        nM(m.nM),
        npair(m.npair),
        nchain(m.nchain),
        nfric(m.nfric),
        nlimit(m.nlimit),
        nconmax(nconmax),
        njmax(njmax),
        width(width),
        chunk(chunk) {
    const int rows = njmax < kContactRows * nconmax ? njmax : kContactRows * nconmax;
    njslot = width * rows;
    nslot = njslot + 2 * nlimit + nfric;
    nJ = njslot * nv;
    nH = nv * (nv + 1) / 2;
    nword = (nv + 31) / 32;
    team = chunk > 8;
    nfactor = team ? team_work(m.ncol, m.nseg, m.npart) : kQuad * nv;
  }

  // panels, then what TeamScratch (kernels/factor_team.h) places behind them
  static int team_work(int ncol, int nseg, int npart) { return kQuad * (ncol + 1 + nseg + npart); }
};

}  // namespace batchsim
