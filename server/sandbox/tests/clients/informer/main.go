// A program as Go developers write them, with client-go's informers, against the API server of $KUBECONFIG: each step says `ok NAME`, or the
// program ends with what went wrong. It expects our resource definitions and simulated nodes.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
)

const namespace = "default"

var gameServers = schema.GroupVersionResource{Group: "game.kruise.io", Version: "v1alpha1", Resource: "gameservers"}

// seen counts what an informer told.
type seen struct {
	sync.Mutex
	added, updated, deleted map[string]int
}

func newSeen() *seen {
	return &seen{added: map[string]int{}, updated: map[string]int{}, deleted: map[string]int{}}
}

func (s *seen) count(which map[string]int, object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if named, ok := object.(metav1.Object); ok {
		s.Lock()
		which[named.GetName()]++
		s.Unlock()
	}
}

func (s *seen) handler() cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { s.count(s.added, object) },
		UpdateFunc: func(_, object any) { s.count(s.updated, object) },
		DeleteFunc: func(object any) { s.count(s.deleted, object) },
	}
}

func (s *seen) of(which map[string]int, name string) int {
	s.Lock()
	defer s.Unlock()
	return which[name]
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must("kubeconfig", err)
	config.QPS, config.Burst = 200, 400
	client := kubernetes.NewForConfigOrDie(config)
	custom := dynamic.NewForConfigOrDie(config)

	version, err := client.Discovery().ServerVersion()
	must("version", err)
	check("version", version.Major == "1" && version.Minor != "", "version %v", version)

	pods, servers := newSeen(), newSeen()
	factory := informers.NewSharedInformerFactory(client, 0)
	podInformer := factory.Core().V1().Pods()
	_, err = podInformer.Informer().AddEventHandler(pods.handler())
	must("handler", err)
	nodeInformer := factory.Core().V1().Nodes()
	nodeInformer.Informer()
	factory.Start(ctx.Done())
	customFactory := dynamicinformer.NewDynamicSharedInformerFactory(custom, 0)
	_, err = customFactory.ForResource(gameServers).Informer().AddEventHandler(servers.handler())
	must("handler", err)
	customFactory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		check("sync", synced, "%v did not sync", kind)
	}
	for kind, synced := range customFactory.WaitForCacheSync(ctx.Done()) {
		check("sync", synced, "%v did not sync", kind)
	}
	ok("informers")

	podLife(ctx, client, podInformer, pods)
	apply(ctx, client)
	conflicts(ctx, client)
	customObjects(ctx, custom, servers)
	election(ctx, client)
}

// podLife follows a pod from its creation to its eviction, through the informer's cache.
func podLife(ctx context.Context, client kubernetes.Interface, informer interface {
	Informer() cache.SharedIndexInformer
}, told *seen) {
	grace := int64(1)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "informed", Labels: map[string]string{"app": "informed"}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace,
			Containers:                    []corev1.Container{{Name: "game", Image: "game:1"}},
		},
	}
	created, err := client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	must("create", err)
	_, err = client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	check("already exists", apierrors.IsAlreadyExists(err), "%v", err)
	eventually(ctx, "pod runs in the cache", func() bool {
		object, exists, _ := informer.Informer().GetStore().GetByKey(namespace + "/informed")
		return exists && object.(*corev1.Pod).Status.Phase == corev1.PodRunning
	})
	check("events", told.of(told.added, "informed") == 1 && told.of(told.updated, "informed") > 0, "%v %v", told.added, told.updated)
	patch := []byte(`{"metadata":{"labels":{"patched":"yes"}}}`)
	_, err = client.CoreV1().Pods(namespace).Patch(ctx, "informed", types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	must("patch", err)
	list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "patched=yes", FieldSelector: "status.phase=Running"})
	must("list", err)
	check("selectors", len(list.Items) == 1, "%d pods", len(list.Items))
	ok("pod life")

	stream, err := client.CoreV1().Pods(namespace).GetLogs("informed", &corev1.PodLogOptions{}).Stream(ctx)
	must("log", err)
	text, err := io.ReadAll(stream)
	must("log", err)
	check("log", strings.Contains(string(text), "game:1"), "%s", text)
	ok("log")

	wrong := types.UID("00000000-0000-0000-0000-000000000000")
	err = client.CoreV1().Pods(namespace).Delete(ctx, "informed", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}})
	check("precondition", apierrors.IsConflict(err), "%v", err)
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "informed"}, DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &created.UID}}}
	must("evict", client.CoreV1().Pods(namespace).EvictV1(ctx, eviction))
	eventually(ctx, "deletion is told", func() bool { return told.of(told.deleted, "informed") == 1 })
	ok("eviction")
}

// apply owns a field, takes another's by force, and is refused without.
func apply(ctx context.Context, client kubernetes.Interface) {
	maps := client.CoreV1().ConfigMaps(namespace)
	first := corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"a": "1"})
	_, err := maps.Apply(ctx, first, metav1.ApplyOptions{FieldManager: "one"})
	must("apply", err)
	second := corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"a": "2"})
	_, err = maps.Apply(ctx, second, metav1.ApplyOptions{FieldManager: "two"})
	check("apply conflict", apierrors.IsConflict(err) && strings.Contains(err.Error(), `conflict with "one"`), "%v", err)
	forced, err := maps.Apply(ctx, second, metav1.ApplyOptions{FieldManager: "two", Force: true})
	must("apply by force", err)
	extracted, err := corev1apply.ExtractConfigMap(forced, "two")
	must("extract", err)
	check("ownership", extracted.Data["a"] == "2", "%v", extracted.Data)
	ok("server-side apply")
}

// conflicts are met by client-go's own helper.
func conflicts(ctx context.Context, client kubernetes.Interface) {
	maps := client.CoreV1().ConfigMaps(namespace)
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "counter-", Labels: map[string]string{"counter": "yes"}}}, metav1.CreateOptions{})
	must("generateName", err)
	list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "counter=yes"})
	must("list", err)
	check("generateName", len(list.Items) == 1 && len(list.Items[0].Name) == len("counter-")+5, "%v", list.Items)
	name := list.Items[0].Name
	stale, err := maps.Get(ctx, name, metav1.GetOptions{})
	must("get", err)
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			backoff := retry.DefaultBackoff
			backoff.Steps = 30
			must("retry on conflict", retry.RetryOnConflict(backoff, func() error {
				now, err := maps.Get(ctx, name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				now.Data = map[string]string{"n": now.Data["n"] + "i"}
				_, err = maps.Update(ctx, now, metav1.UpdateOptions{})
				return err
			}))
		}()
	}
	all.Wait()
	now, err := maps.Get(ctx, name, metav1.GetOptions{})
	must("get", err)
	check("no update is lost", now.Data["n"] == "iiiiiiii", "%q", now.Data["n"])
	stale.Data = map[string]string{"n": "old"}
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	check("stale update", apierrors.IsConflict(err), "%v", err)
	stale.ResourceVersion, stale.Name = "", "Not_A_Name"
	_, err = maps.Create(ctx, stale, metav1.CreateOptions{})
	check("invalid name", apierrors.IsInvalid(err) && apierrors.HasStatusCause(err, metav1.CauseTypeFieldValueInvalid), "%v", err)
	_, err = maps.Get(ctx, "nowhere", metav1.GetOptions{})
	check("not found", apierrors.IsNotFound(err), "%v", err)
	ok("conflicts")
}

// customObjects are ours, read and written without types.
func customObjects(ctx context.Context, custom dynamic.Interface, told *seen) {
	servers := custom.Resource(gameServers).Namespace(namespace)
	object := func(ops string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "game.kruise.io/v1alpha1", "kind": "GameServer",
			"metadata": map[string]any{"name": "typeless"}, "spec": map[string]any{"opsState": ops},
		}}
	}
	_, err := servers.Create(ctx, object("kill"), metav1.CreateOptions{})
	check("rule", apierrors.IsInvalid(err), "%v", err)
	_, err = servers.Create(ctx, object("None"), metav1.CreateOptions{})
	must("create", err)
	eventually(ctx, "custom object is told", func() bool { return told.of(told.added, "typeless") == 1 })
	patched, err := servers.Patch(ctx, "typeless", types.MergePatchType, []byte(`{"spec":{"opsState":"Maintaining"}}`), metav1.PatchOptions{})
	must("patch", err)
	ops, _, _ := unstructured.NestedString(patched.Object, "spec", "opsState")
	check("patched", ops == "Maintaining", "%q", ops)
	_, err = servers.Patch(ctx, "typeless", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	check("strategic patch of a custom kind", apierrors.IsUnsupportedMediaType(err), "%v", err)
	eventually(ctx, "update is told", func() bool { return told.of(told.updated, "typeless") > 0 })
	must("delete", servers.Delete(ctx, "typeless", metav1.DeleteOptions{}))
	eventually(ctx, "custom deletion is told", func() bool { return told.of(told.deleted, "typeless") == 1 })
	ok("custom objects")
}

// election by client-go's own library, which writes micro times into a Lease.
func election(ctx context.Context, client kubernetes.Interface) {
	ctx, cancel := context.WithCancel(ctx)
	led := make(chan struct{})
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: "elected", Namespace: namespace},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, ReleaseOnCancel: true, LeaseDuration: 5 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 500 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { time.Sleep(1200 * time.Millisecond); close(led); cancel() },
			OnStoppedLeading: func() {},
		},
	})
	<-led
	lease, err := client.CoordinationV1().Leases(namespace).Get(context.Background(), "elected", metav1.GetOptions{})
	must("lease", err)
	check("released", lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity == "", "%v", lease.Spec.HolderIdentity)
	ok("leader election")
}

func eventually(ctx context.Context, what string, so func() bool) {
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(50 * time.Millisecond) {
		check(what, time.Now().Before(deadline) && ctx.Err() == nil, "it did not happen")
	}
}

func ok(what string) { fmt.Println("ok", what) }

func must(what string, err error) { check(what, err == nil, "%v", err) }

func check(what string, holds bool, format string, arguments ...any) {
	if !holds {
		fmt.Fprintf(os.Stderr, "FAILED %s: %s\n", what, fmt.Sprintf(format, arguments...))
		os.Exit(1)
	}
}
