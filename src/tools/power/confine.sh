# Run as the first process of its own namespaces: a new root with the system's programs, read-only, and nothing of
# the person's. $1: an empty folder that becomes the root. $2: the interpreter. $3: said on stderr once everything is
# in place. The rest: arguments of the interpreter.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
root=$1
node=$2
word=$3
shift 3
command -v setpriv prlimit pivot_root >/dev/null

mount --make-rprivate /
mount -t tmpfs -o size=64m,mode=755,nosuid,nodev none "$root"
cd "$root"
mkdir usr proc dev tmp old
mount --bind /usr usr
mount -o remount,bind,ro,nosuid,nodev usr
for folder in bin sbin lib lib32 lib64; do
  if [ -L "/$folder" ]; then
    ln -s "usr/$folder" "$folder"
  elif [ -d "/$folder" ]; then
    mkdir "$folder"
    mount --bind "/$folder" "$folder"
    mount -o remount,bind,ro,nosuid,nodev "$folder"
  fi
done
touch interpreter
mount --bind "$node" interpreter
mount -o remount,bind,ro,nosuid,nodev interpreter
for device in null zero urandom; do
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mount -t proc -o ro,nosuid,nodev,noexec none proc
chmod 1777 tmp
pivot_root . old
umount -l /old
rmdir /old
mount -o remount,ro,size=64m,mode=755,nosuid,nodev none /
mount -t tmpfs -o size=64m,mode=1777,nosuid,nodev none /tmp
cd /tmp
echo "$word" >&2
# Without capabilities and without a way to get any: nothing of the above can be undone.
exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs \
  prlimit --cpu=20 --data=805306368 --fsize=67108864 --nproc=64 --nofile=256 --core=0 \
  /interpreter "$@"
