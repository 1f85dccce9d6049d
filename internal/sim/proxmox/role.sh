pveum role add Butler --privs "VM.Allocate VM.Audit VM.Clone VM.Config.CDROM VM.Config.CPU VM.Config.Cloudinit VM.Config.Disk VM.Config.HWType VM.Config.Memory VM.Config.Network VM.Config.Options VM.GuestAgent.Audit VM.PowerMgmt Datastore.Allocate Datastore.AllocateSpace Datastore.AllocateTemplate Datastore.Audit SDN.Use Sys.Audit"
pveum user add butler@pve
pveum acl modify / --users butler@pve --roles Butler
pveum user token add butler@pve butler --privsep 1
pveum acl modify / --tokens 'butler@pve!butler' --roles Butler
