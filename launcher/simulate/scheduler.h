// Scheduler: draws what goes wrong in a scene: often the same again, or something soon after the
// last, or at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/simulate/drawer.h"
#include "launcher/simulate/fault.h"
#include "launcher/simulate/scene.h"

namespace sterna::launcher {

inline constexpr std::string_view kCoordinator = "coordinator";

class Scheduler {
 public:
  /// Keeps references to both; the scene's file has been read.
  Scheduler(Drawer& draw, const Scene& scene);

  /// The faults that each scene has.
  std::vector<Fault> schedule();
  /// A host that is cut off now and then: for longer than a lease, too, where all that is there
  /// may be elsewhere. Nothing where there is only one.
  std::vector<Fault> isolations();
  /// A host that is wanted back now and then, and comes again. Nothing where there is only one, or
  /// where not all that is there may be elsewhere.
  std::vector<Fault> recalls();
  /// What brings about what is rare by itself, and strikes in the middle of it.
  std::vector<Fault> rarities();
  /// A worker that is lost again and again moves mostly, with what is kept for it; the host that
  /// has it is lost in the middle of that. Nothing where nothing is kept, or there is only one
  /// host.
  std::vector<Fault> lost_keeper();
  /// What comes to actors comes late, or not at all, now and then.
  std::vector<Fault> disturbances();
  /// What is computed and written takes longer, now and then, on one host or another.
  std::vector<Fault> slowness();
  /// Full disks.
  std::vector<Fault> fullness();
  /// The run keeps checkpoints, goes on from them, and what it keeps suffers, too.
  void keep_checkpoints(Scene& scene);
  /// One that does not come again.
  std::string draw_victim();

 private:
  /// Servers without a replica that come again, as workers have what they had: they, or workers, or
  /// both; then nobody may have it.
  void strike_alone();

  bool has_one_alone(const HostSection& host) const;
  bool has_a_worker(const HostSection& host) const;
  bool keeps_residuals() const;
  Duration gap();
  /// Those of which one may be lost: of all pairs the same.
  std::vector<std::string> servers_with_partners() const;
  /// Whether of two servers one tells the other of pushes.
  bool ordered() const;
  const ActorPlan& plan_of(const std::string& name) const;

  void strike_refilling(const std::string& server, std::vector<Fault>& faults);
  void strike_recovering(const std::string& server, std::vector<Fault>& faults);
  /// At one of the first of these: somebody who comes again, or a link.
  Fault strike_at(const char* message, std::uint64_t most, const std::string& speaker);
  /// While the roles find each other and dial: what breaks then was never open.
  void strike_first_connections(std::vector<Fault>& schedule);
  /// Often of the one who is struck; else of whom it talks with.
  FaultPoint draw_point(const Fault& fault);
  /// What says itself what it is about.
  Fault draw_repeat();
  Fault draw();
  /// Two times of three a worker, and now and then the coordinator.
  std::string victim();
  const std::string& worker();
  /// Two that talk with each other. `tree`: maybe of those by which the run is held together.
  void choose_pair(Fault& fault, bool tree);

  Drawer& draw_;
  const Scene& scene_;
  const bool does_without_ = scene_.file.cluster.lost_host == "quorum";
  std::vector<std::string> servers_;
  std::vector<std::string> alone_;  ///< servers without a replica
  bool alone_come_again_ = false;   ///< those, where they are lost
  bool strikes_alone_ = false;
  bool spares_workers_ = false;
  std::vector<std::string> workers_;
  std::vector<std::string> again_;  ///< who comes again
  std::vector<std::string> nodes_;
};

}  // namespace sterna::launcher
