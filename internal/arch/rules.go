// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

// emptyNames are package names without a meaning.
var emptyNames = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared"}

// testSupport may be imported by the tests of every package.
var testSupport = []string{"internal/controller/controllertest", "internal/plane/planetest", "internal/talos/talostest", "internal/plane", "config/crd", "api/v1alpha1"}

// rules has a row for every package of the module but those of drivers; the longest
// pattern counts.
var rules = []Rule{
	// The API and the contract can be imported by others, so they carry little
	// along. Nothing below internal/ may appear in them.
	{Packages: "api/v1alpha1", Only: []string{"k8s.io/api/...", "k8s.io/apimachinery/...", "github.com/google/go-cmp/..."}},
	{Packages: "config/crd"},
	{Packages: "config/admission", InTests: []string{"internal/talos"}},
	{Packages: "config/clusterapi"},
	{Packages: "provider", May: []string{"api/v1alpha1", "provider/tag"}},
	{Packages: "provider/check", May: []string{"api/v1alpha1", "provider"}},
	{Packages: "provider/cloud", May: []string{"provider", "provider/check", "provider/tag"}},
	{Packages: "provider/errtext"},
	{Packages: "provider/nocloud", May: []string{"provider"}},
	{Packages: "provider/tag", May: []string{"api/v1alpha1"}},
	{Packages: "provider/inmemory", May: []string{"api/v1alpha1", "provider"}},
	{Packages: "provider/providertest", May: []string{"api/v1alpha1", "provider"}, InTests: []string{"provider/inmemory"}},
	{
		Packages: "provider/serve",
		May: []string{
			"provider",
			"internal/controller/loadbalancerrequest", "internal/controller/machinerequest", "internal/controller/metric", "internal/controller/program",
			"internal/controller/orphan", "internal/controller/providerconfig", "internal/controller/request", "internal/controller/session",
			"internal/version",
		},
		InTests: []string{"provider/inmemory"},
	},

	// Controllers know the contract, never a driver.
	{Packages: "internal/controller/metric", May: []string{"api/v1alpha1", "provider"}},
	{
		Packages: "internal/controller/session", May: []string{"api/v1alpha1", "provider", "internal/controller/metric"},
		InTests: []string{"provider/inmemory"},
	},
	// Caches show a write a moment later.
	{Packages: "internal/controller/lag"},
	{Packages: "internal/controller/request", May: []string{"api/v1alpha1", "provider", "internal/controller/lag", "internal/controller/metric", "internal/controller/session"}},
	{
		Packages: "internal/controller/machinerequest",
		May:      []string{"api/v1alpha1", "provider", "internal/controller/request"},
		InTests:  []string{"provider/inmemory", "internal/controller/baseline", "internal/controller/crashtest", "internal/controller/session", "internal/procstat"},
	},
	{
		Packages: "internal/controller/loadbalancerrequest",
		May:      []string{"api/v1alpha1", "provider", "internal/controller/request"},
		InTests:  []string{"provider/inmemory", "internal/controller/crashtest", "internal/controller/session"},
	},
	// Benchmarks compare with it.
	{Packages: "internal/controller/baseline", May: []string{"api/v1alpha1", "provider", "internal/controller/session"}},
	{Packages: "internal/procstat"},
	{Packages: "internal/controller/controllertest", May: []string{"api/v1alpha1", "internal/controller/program", "internal/plane", "internal/plane/planetest"}},
	{Packages: "internal/controller/crashtest", May: []string{"api/v1alpha1", "provider", "internal/controller/session"}},
	{
		Packages: "internal/controller/providerconfig", May: []string{"api/v1alpha1", "provider", "internal/controller/lag", "internal/controller/request", "internal/controller/session"},
		InTests: []string{"provider/inmemory"},
	},
	{
		Packages: "internal/controller/clusterbootstrap", May: []string{"api/v1alpha1", "internal/addon/...", "internal/bootstrap", "internal/controller/lag", "internal/controller/metric", "internal/controller/program", "internal/step", "internal/talos", "internal/version"},
		InTests: []string{
			"charts", "provider", "provider/inmemory", "provider/serve", "internal/controller/ipallocation", "internal/controller/machinerequest",
			"internal/controller/providerconfig", "internal/sim/...", "internal/pki",
		},
	},

	{
		Packages: "internal/controller/orphan", May: []string{"api/v1alpha1", "provider", "internal/controller/request", "internal/controller/session"},
		InTests: []string{"provider/inmemory", "internal/controller/metric"},
	},

	{Packages: "internal/controller/butlerconfig", May: []string{"api/v1alpha1", "internal/controller/lag"}},
	{
		Packages: "internal/controller/tenantcluster",
		May: []string{
			"api/v1alpha1", "internal/addon", "internal/addon/install", "internal/addon/source", "internal/bootstrap", "internal/controller/lag", "internal/controller/metric", "internal/ipam", "internal/mirror", "internal/step", "internal/talos", "internal/tenant",
		},
		InTests: []string{"config/clusterapi", "internal/pki", "internal/controller/crashtest", "internal/controller/ipallocation", "internal/controller/program", "internal/plane", "internal/procstat"},
	},
	{Packages: "internal/controller/butlercontroller", May: []string{"internal/addon/source", "internal/controller/butlerconfig", "internal/controller/ipallocation", "internal/controller/program", "internal/controller/team", "internal/controller/tenantcluster", "internal/talos"}},
	{Packages: "internal/controller/team", May: []string{"api/v1alpha1", "internal/controller/lag", "internal/controller/tenantcluster"}, InTests: []string{"internal/controller/program"}},

	{Packages: "internal/ipam", May: []string{"api/v1alpha1"}},
	// Addresses: the claims decide, pools and allocations build on them.
	{Packages: "internal/controller/addressclaim", May: []string{"api/v1alpha1", "internal/controller/lag", "internal/ipam"}},
	{Packages: "internal/controller/networkpool", May: []string{"api/v1alpha1", "internal/controller/addressclaim", "internal/controller/lag", "internal/controller/metric", "internal/ipam"}},
	{Packages: "internal/controller/ipallocation", May: []string{"api/v1alpha1", "internal/controller/addressclaim", "internal/controller/lag", "internal/controller/metric", "internal/controller/networkpool", "internal/ipam"}},

	{Packages: "internal/controller/program", May: []string{"api/v1alpha1", "internal/version"}},

	// Bootstrap speaks MachineRequest: it does not know that providers exist.
	{Packages: "internal/bootstrap", May: []string{"api/v1alpha1", "internal/addon", "internal/addon/install", "internal/ipam", "internal/step", "internal/talos", "internal/version", "provider/errtext"}},
	{Packages: "internal/step", May: []string{"provider/errtext"}},
	{Packages: "internal/addon", May: []string{"api/v1alpha1"}},
	// Builders are pure: they know the API and how platforms write tags.
	{Packages: "internal/tenant", May: []string{"api/v1alpha1", "provider/tag"}, InTests: []string{"config/clusterapi", "config/crd", "internal/addon"}},
	{Packages: "internal/addon/source", May: []string{"api/v1alpha1", "internal/addon"}, InTests: []string{"charts"}},
	// Copies of what an API server has, for one user each.
	{Packages: "internal/mirror"},
	{Packages: "internal/addon/install", May: []string{"api/v1alpha1", "internal/addon", "internal/addon/source", "internal/mirror"}, InTests: []string{"charts"}},
	{
		Packages: "charts",
		InTests: []string{
			"config/admission", "internal/addon/...", "internal/controller/...", "internal/pki", "internal/sim/...",
			"provider", "provider/inmemory", "provider/serve",
		},
	},
	// Moving a plane is between two API servers; what controllers and platforms have
	// to do in it comes from outside.
	{Packages: "internal/pivot", May: []string{"api/v1alpha1", "config/crd"}, InTests: []string{"config/admission"}},
	{Packages: "internal/talos/talostest", May: []string{"internal/talos"}},
	{Packages: "internal/talos", InTests: []string{"internal/pki", "internal/sim/..."}},

	// The local plane. Only main packages link the components, so that no test
	// binary carries an API server.
	{Packages: "internal/pki"},
	{Packages: "internal/lock"},
	{Packages: "internal/plane", May: []string{"internal/lock", "internal/pki"}},
	{Packages: "internal/plane/component"},
	{Packages: "internal/plane/kind", May: []string{"config/admission", "config/crd", "internal/failure", "internal/lock", "internal/plane"}},
	// A cluster of the user as a plane: what is there already is the user's.
	{Packages: "internal/plane/guest", May: []string{"api/v1alpha1", "config/admission", "config/crd", "internal/failure", "internal/lock", "internal/plane"}},
	{Packages: "internal/plane/planetest", May: []string{"internal/plane", "internal/pki", "config/crd"}},
	{Packages: "internal/plane/planetest/executable", May: []string{"internal/plane/component"}},

	// The far side of the wire: no driver, no controller, no contract.
	{
		Packages: "internal/sim",
		May: []string{
			"api/v1alpha1", "internal/lock", "internal/plane",
			"internal/sim/audit", "internal/sim/boot", "internal/sim/datacenter", "internal/sim/facade", "internal/sim/fault", "internal/sim/front", "internal/sim/network",
			"internal/sim/registry", "internal/sim/talos",
		},
		InTests: []string{"internal/sim/harvester"},
	},
	{Packages: "internal/sim/network"},
	{Packages: "internal/sim/fault"},
	{Packages: "internal/sim/cloudinit"},
	{Packages: "internal/sim/conflict", May: []string{"internal/sim/fault"}},
	{Packages: "internal/sim/table"},
	{Packages: "internal/sim/standin", May: []string{"config/clusterapi"}},
	// Programs of a rehearsed management cluster: clients of the platform, as drivers are.
	{Packages: "internal/sim/clusterapi", May: []string{"api/v1alpha1", "provider", "provider/tag"}},
	{Packages: "internal/sim/audit", May: []string{"internal/sim/fault", "provider/tag"}},
	{
		Packages: "internal/sim/facade",
		May:      []string{"api/v1alpha1", "internal/sim/audit", "internal/sim/datacenter", "internal/sim/fault", "internal/sim/front", "internal/sim/network"},
	},
	{
		Packages: "internal/sim/cloud",
		May: []string{
			"internal/plane", "internal/sim/conflict", "internal/sim/datacenter", "internal/sim/facade", "internal/sim/fault", "internal/sim/front", "provider/tag",
		},
	},
	{
		Packages: "internal/sim/cloud/cloudtest",
		May: []string{
			"internal/sim/audit", "internal/sim/datacenter", "internal/sim/facade", "internal/sim/fault", "internal/sim/front", "internal/sim/network",
		},
	},
	// What the tests of drivers run against.
	{
		Packages: "internal/sim/simtest",
		May: []string{
			"api/v1alpha1", "internal/plane/planetest", "internal/sim/datacenter", "internal/sim/facade", "internal/sim/fault", "internal/sim/front",
			"internal/sim/network", "provider", "provider/providertest",
		},
	},
	{
		Packages: "internal/providerbinary",
		May: []string{
			"api/v1alpha1", "internal/pki", "internal/plane", "internal/plane/planetest",
			"internal/procstat", "internal/sim/datacenter", "internal/sim/facade", "internal/sim/fault", "internal/sim/simtest",
		},
	},
	{
		Packages: "internal/providerbinary/baseline",
		May: []string{
			"api/v1alpha1", "internal/controller/baseline", "internal/controller/program", "internal/controller/session", "internal/version",
			"provider", "provider/aws", "provider/azure", "provider/gcp", "provider/harvester", "provider/nutanix", "provider/proxmox",
		},
	},
	{Packages: "internal/sim/front", May: []string{"internal/pki", "internal/plane", "internal/sim/audit", "internal/sim/fault", "internal/sim/network", "provider/tag"}},
	{
		Packages: "internal/sim/registry",
		May:      []string{"internal/sim/fault", "internal/sim/front", "internal/sim/network", "internal/sim/standin"},
		InTests:  []string{"api/v1alpha1", "internal/addon/..."},
	},
	{Packages: "internal/sim/boot", May: []string{"internal/lock", "internal/sim/datacenter", "internal/sim/network"}},
	{
		Packages: "internal/sim/datacenter",
		May:      []string{"internal/sim/cloudinit", "internal/sim/fault", "internal/sim/network"},
		InTests:  []string{"internal/sim/audit"},
	},
	{
		Packages: "internal/sim/talos",
		May: []string{
			"internal/sim/audit", "internal/sim/cloudinit", "internal/sim/cluster", "internal/sim/datacenter", "internal/sim/fault", "internal/sim/hosted",
			"internal/sim/network", "internal/sim/passthrough", "internal/sim/standin", "internal/sim/upstream", "internal/plane", "internal/pki",
		},
		InTests: []string{"internal/talos"},
	},
	{Packages: "internal/sim/upstream", May: []string{"internal/sim/standin"}, InTests: []string{"internal/plane"}},
	{Packages: "internal/sim/passthrough", May: []string{"internal/sim/network", "internal/sim/sni", "internal/pki"}},
	{Packages: "internal/sim/sni", InTests: []string{"internal/pki"}},
	{Packages: "internal/sim/hosted", May: []string{"internal/sim/cluster", "internal/sim/fault", "internal/sim/network", "internal/plane", "internal/pki"}},
	{
		Packages: "internal/sim/cluster",
		May:      []string{"internal/sim/datacenter", "internal/sim/fault", "internal/sim/network", "internal/sim/standin", "internal/plane", "internal/pki"},
	},

	// The command puts all of it together, except the drivers: those come from
	// its main package.
	{Packages: "internal/failure"},
	{Packages: "internal/manifest", May: []string{"api/v1alpha1", "config/crd"}},
	{Packages: "internal/ui", May: []string{"api/v1alpha1", "internal/diagnosis"}},
	{Packages: "internal/trace", May: []string{"api/v1alpha1", "internal/ui", "internal/version"}},
	// What a bootstrap would do is a value; launch collects what it is made of.
	{Packages: "internal/history", May: []string{"api/v1alpha1"}},
	{Packages: "configs/examples", May: []string{"api/v1alpha1"}},
	{Packages: "internal/starter", InTests: []string{"configs/examples", "internal/explain", "internal/manifest"}},
	{Packages: "internal/reference"},
	{Packages: "internal/explain", May: []string{"api/v1alpha1", "config/crd", "internal/manifest", "internal/ui"}},
	{Packages: "internal/workstation", May: []string{"provider", "internal/version"}},
	{Packages: "internal/plan", May: []string{"api/v1alpha1", "provider", "internal/addon", "internal/bootstrap", "internal/history", "internal/manifest", "internal/ui"}},
	{
		Packages: "internal/workspace",
		May: []string{
			"api/v1alpha1", "config/admission", "config/crd", "internal/controller/program", "internal/failure", "internal/lock", "internal/plane",
			"internal/plane/kind", "internal/plane/guest", "internal/sim", "internal/sim/network",
		},
	},
	{
		Packages: "internal/operation",
		May: []string{
			"api/v1alpha1", "charts", "provider", "provider/serve", "internal/addon", "internal/addon/install", "internal/addon/source", "internal/bootstrap",
			"internal/controller/clusterbootstrap", "internal/controller/ipallocation", "internal/controller/program", "internal/deployed", "internal/failure",
			"internal/image/archive", "internal/manifest", "internal/plane/kind", "internal/registry", "internal/release", "internal/sim", "internal/sim/network", "internal/sim/registry", "internal/talos", "internal/ui", "internal/version",
			"internal/workspace",
		},
		InTests: []string{"internal/pki", "internal/sim/fault"},
	},
	{
		Packages: "internal/inventory", May: []string{"api/v1alpha1", "provider", "internal/controller/request", "internal/operation", "internal/ui"},
		InTests: []string{"provider/inmemory"},
	},
	{Packages: "internal/deployed", May: []string{"api/v1alpha1", "internal/addon"}, InTests: []string{"internal/controller/program"}},
	// This machine's side of a cluster that manages itself.
	{
		Packages: "internal/selfhosted",
		May: []string{
			"api/v1alpha1", "provider", "internal/addon", "internal/bootstrap", "internal/controller/program", "internal/deployed", "internal/inventory", "internal/operation",
			"internal/pivot", "internal/sim", "internal/ui", "internal/workspace",
		},
		InTests: []string{"internal/pki"},
	},
	{Packages: "internal/timeline", May: []string{"api/v1alpha1", "internal/history"}},
	{Packages: "internal/bundle"},
	// Why a cluster is not Ready: a pure function, and its facts.
	{
		Packages: "internal/diagnosis", May: []string{"api/v1alpha1"},
		InTests: []string{
			"provider", "provider/aws", "provider/azure", "provider/gcp", "provider/harvester", "provider/nutanix", "provider/proxmox", "provider/serve",
			"internal/addon/source", "internal/controller/clusterbootstrap", "internal/diagnosis/...", "internal/sim/...",
		},
	},
	{Packages: "internal/diagnosis/diagnosistest", May: []string{"api/v1alpha1", "provider", "internal/diagnosis", "internal/sim/fault"}},
	{
		Packages: "internal/diagnosis/gather",
		May: []string{
			"api/v1alpha1", "internal/addon/install", "internal/bootstrap", "internal/deployed", "internal/diagnosis", "internal/selfhosted", "internal/sim",
			"internal/step", "internal/talos", "internal/tenants", "internal/workspace",
		},
	},
	// What commands do with tenant clusters.
	{Packages: "internal/tenants", May: []string{"api/v1alpha1", "internal/failure"}},
	{
		Packages: "internal/teardown",
		May: []string{
			"api/v1alpha1", "provider", "internal/bootstrap", "internal/failure", "internal/inventory", "internal/lock", "internal/manifest",
			"internal/operation", "internal/selfhosted", "internal/tenants", "internal/ui", "internal/workspace",
		},
		InTests: []string{"provider/inmemory", "internal/controller/program"},
	},
	{
		Packages: "internal/launch",
		May: []string{
			"api/v1alpha1", "provider", "internal/addon", "internal/bootstrap", "internal/failure", "internal/history", "internal/manifest", "internal/operation",
			"internal/plan", "internal/selfhosted", "internal/sim", "internal/teardown", "internal/timeline", "internal/ui", "internal/version", "internal/workspace", "internal/workstation",
		},
	},
	{
		Packages: "internal/cli/...",
		May: []string{
			"api/v1alpha1", "charts", "config/admission", "config/crd", "configs/examples", "provider", "provider/serve", "internal/addon/...", "internal/bootstrap", "internal/bundle", "internal/controller/...",
			"internal/deployed", "internal/diagnosis/...", "internal/explain", "internal/failure", "internal/history", "internal/image/...", "internal/inventory", "internal/launch", "internal/lock", "internal/manifest", "internal/operation", "internal/pki", "internal/plan", "internal/plane", "internal/plane/guest", "internal/registry", "internal/release",
			"internal/selfhosted", "internal/sim/...", "internal/starter", "internal/talos", "internal/teardown", "internal/tenants", "internal/timeline", "internal/trace", "internal/ui",
			"internal/version", "internal/workspace", "internal/workstation",
		},
		InTests: []string{"provider/harvester", "provider/inmemory", "internal/pty"},
	},
	// A butleradm with defects, for tests.
	{Packages: "internal/cli/matrix/faulty", May: []string{"api/v1alpha1", "internal/cli", "internal/plane/component", "internal/sim/...", "internal/talos", "provider", "provider/aws", "provider/azure", "provider/gcp", "provider/harvester", "provider/nutanix", "provider/proxmox"}},
	{Packages: "internal/pty"},
	{Packages: "internal/version"},
	// Cause and remedy of each reason; the test compares them with the code.
	{Packages: "internal/reason", InTests: []string{"internal/arch"}},
	{Packages: "internal/release", May: []string{"internal/version"}},
	{Packages: "cmd/...", May: []string{"api/v1alpha1", "charts", "cmd/butleradm/app", "provider/...", "internal/...", "config/crd"}},

	{Packages: "internal/arch"},
	// Images and registries are butleradm's concern: no controller links them.
	{Packages: "internal/image", InTests: []string{"internal/image/imagetest"}},
	{Packages: "internal/image/testdata/..."},
	{Packages: "internal/image/imagetest", May: []string{"internal/image"}},
	{Packages: "internal/image/gobuild", May: []string{"internal/image"}},
	{Packages: "internal/image/archive", May: []string{"internal/image"}, InTests: []string{"internal/image/imagetest"}},
	{Packages: "internal/registry", May: []string{"internal/image/archive"}, InTests: []string{"internal/image/imagetest"}},
	{
		Packages: "hack/...",
		May: []string{
			"api/v1alpha1", "charts", "cmd/butleradm/app", "config/admission", "config/crd", "hack/butleradm", "internal/addon", "internal/arch", "internal/controller/metric", "internal/image/...", "internal/manifest", "internal/plane", "internal/procstat", "internal/pty",
			"internal/reason", "internal/reference", "internal/sim/datacenter", "internal/ui", "internal/version",
		},
		InTests: []string{"internal/image/imagetest"},
	},
}

// guards keep heavy or vendor-specific modules to those whose concern they are.
var guards = []Guard{
	{Prefix: "k8s.io/kubernetes", Importers: []string{"internal/plane/component"}},
	{Prefix: "go.etcd.io/etcd/server/v3", Importers: []string{"internal/plane/component"}},
	{Prefix: "kubevirt.io", Importers: []string{"provider/harvester", "internal/sim/harvester/..."}},
	{Prefix: "github.com/aws", Importers: []string{"provider/aws", "internal/sim/aws/...", "cmd/butler-provider-aws", "internal/cli/matrix"}},
	{Prefix: "cloud.google.com/go", Importers: []string{"provider/gcp", "internal/sim/gcp"}},
	{Prefix: "google.golang.org/api", Importers: []string{"provider/gcp", "internal/sim/gcp"}},
	{Prefix: "github.com/Azure", Importers: []string{"provider/azure", "internal/sim/azure/...", "cmd/butler-provider-azure", "internal/cli/matrix"}},
	{Prefix: "github.com/nutanix-cloud-native", Importers: []string{"provider/nutanix", "internal/sim/nutanix/...", "cmd/butler-provider-nutanix", "internal/cli/matrix"}},
	{Prefix: "github.com/siderolabs", Importers: []string{"internal/talos", "internal/sim/hosted", "internal/sim/talos"}},
	{Prefix: "github.com/cosi-project", Importers: []string{"internal/talos", "internal/sim/talos"}},
	{Prefix: "helm.sh/helm", Importers: []string{"internal/addon/...", "internal/sim/registry", "charts", "hack/render", "hack/release"}},
	{Prefix: "github.com/google/go-containerregistry", Importers: []string{"internal/image/...", "internal/registry", "internal/cli/...", "hack/..."}},
	{Prefix: "sigs.k8s.io/kind", Importers: []string{"internal/plane/kind"}},
	{Prefix: "sigs.k8s.io/cluster-api", Importers: []string{"internal/addon/source", "internal/sim/clusterapi"}},
	{Prefix: "go.opentelemetry.io", Importers: []string{"internal/trace"}},
	{Prefix: "github.com/stretchr/testify", Importers: nil},
	{Prefix: "github.com/onsi", Importers: nil},
}
