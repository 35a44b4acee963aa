#Requires -Version 5.1
# Installs Browy on Windows for the person who runs this: from a checkout (builds it) or from a release archive.
#
# NOT TESTED: it has been reviewed line by line and never been run, because there was no Windows where it was
# written. The program itself has not been compiled for Windows either; see docs/architecture.md, "Other systems".
#
#   powershell -ExecutionPolicy Bypass -File install\install.ps1
#
# It does what install.sh does, in the same order. Files go through .NET, which takes a path as it is; to many
# cmdlets a [ in a folder's name is a pattern.
[CmdletBinding(PositionalBinding = $false)]
param(
    [ValidateNotNullOrEmpty()] [string] $Prefix,
    [switch] $NoBrowserRegistration,
    [switch] $DryRun,
    [Alias('h')] [switch] $Help
)

Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

# Where releases are published. Empty until there is such a place.
$releases = ''

$usage = @'
Usage: install\install.ps1 [OPTIONS]

Installs the host, stages the extension, gets the GitHub Copilot CLI when there is none, and tells the
browsers on this machine where the host is. Running it again updates what changed. Needs no administrator.

  -Prefix DIR             puts program and extension there instead of ~\.browy\app
  -NoBrowserRegistration  leaves the browsers alone
  -DryRun                 says what it would do
  -Help                   this text

From a checkout it needs Rust (https://rustup.rs) with the C++ build tools; for the Copilot CLI, npm.
It changes ~\.browy, the prefix, and one registry key of yours per browser; install\uninstall.ps1 takes all of
it back. Of install.sh, --with-deps and --demo are not here: `browy demo` is not built for Windows yet.
'@

function Write-Line([string] $Text) { Write-Host $Text }
function Write-Step([string] $Text) { Write-Host "==> $Text" }

# Does it, or says that it would. The block sees the variables of its caller.
function Invoke-Change([string] $Doing, [scriptblock] $Change) {
    if ($DryRun) {
        Write-Line "    would $Doing"
    } else {
        $null = & $Change
    }
}

# Runs a program, which writes straight to the terminal, and leaves its exit code in $exitCode.
$exitCode = 0
function Invoke-Program([string] $Program, [string[]] $Arguments) {
    if ($DryRun) {
        Write-Line "    would run: $Program $Arguments"
        return
    }
    # A program may write to stderr and still succeed: only its exit code counts.
    $ErrorActionPreference = 'Continue'
    $PSNativeCommandUseErrorActionPreference = $false
    # Stays when the program cannot be started at all.
    $global:LASTEXITCODE = -1
    & $Program @Arguments
    $script:exitCode = $LASTEXITCODE
}

function Find-Program([string[]] $Names) {
    $found = Get-Command -Name $Names -CommandType Application -ErrorAction SilentlyContinue |
        Select-Object -First 1
    if ($null -ne $found) { $found.Path }
}

# An absolute path; a relative one starts in PowerShell's folder, which is not that of the process.
function Get-FullPath([string] $Path) {
    $full = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Path)
    if (-not [IO.Path]::IsPathRooted($full)) { throw "$Path is not a folder on a disk" }
    $full = [IO.Path]::GetFullPath($full)
    $drive = [IO.Path]::GetPathRoot($full)
    if ($full -eq $drive) { throw "$Path is a whole disk; name a folder on it" }
    # Windows PowerShell does not quote a backslash at the end of an argument correctly.
    $full.TrimEnd('\')
}

function Test-SameFile([string] $One, [string] $Other) {
    if (-not ([IO.File]::Exists($One) -and [IO.File]::Exists($Other))) { return $false }
    if ([IO.FileInfo]::new($One).Length -ne [IO.FileInfo]::new($Other).Length) { return $false }
    # As text, since a loop over the bytes of a program takes minutes. Get-FileHash fails in a Windows PowerShell
    # that was started by a newer one.
    $here = [Convert]::ToBase64String([IO.File]::ReadAllBytes($One))
    $there = [Convert]::ToBase64String([IO.File]::ReadAllBytes($Other))
    return [string]::CompareOrdinal($here, $there) -eq 0
}

# Names of all files below a folder, but for the hint that the program leaves in a staged extension.
function Get-FileNames([string] $Folder) {
    foreach ($file in [IO.Directory]::GetFiles($Folder, '*', 'AllDirectories')) {
        $name = $file.Substring($Folder.Length + 1)
        if ($name -ne 'install-hint.json') { $name }
    }
}

function Test-SameTree([string] $One, [string] $Other) {
    if (-not [IO.Directory]::Exists($Other)) { return $false }
    $names = @(Get-FileNames $One | Sort-Object)
    $others = @(Get-FileNames $Other | Sort-Object)
    if (($names -join '|') -cne ($others -join '|')) { return $false }
    foreach ($name in $names) {
        if (-not (Test-SameFile ([IO.Path]::Combine($One, $name)) ([IO.Path]::Combine($Other, $name)))) {
            return $false
        }
    }
    return $true
}

function Copy-Tree([string] $From, [string] $To) {
    $null = [IO.Directory]::CreateDirectory($To)
    foreach ($file in [IO.Directory]::GetFiles($From)) {
        [IO.File]::Copy($file, [IO.Path]::Combine($To, [IO.Path]::GetFileName($file)), $true)
    }
    foreach ($folder in [IO.Directory]::GetDirectories($From)) {
        Copy-Tree $folder ([IO.Path]::Combine($To, [IO.Path]::GetFileName($folder)))
    }
}

function Remove-Tree([string] $Folder) {
    if ([IO.Directory]::Exists($Folder)) { [IO.Directory]::Delete($Folder, $true) }
}

function Find-OwnCopilot {
    $packages = [IO.Path]::Combine($ownCopilot, 'node_modules', '@github')
    if (-not [IO.Directory]::Exists($packages)) { return }
    foreach ($package in [IO.Directory]::GetDirectories($packages, 'copilot-win32-*')) {
        $candidate = [IO.Path]::Combine($package, 'copilot.exe')
        if ([IO.File]::Exists($candidate)) { return $candidate }
    }
}

# The Copilot CLI that will be used when none has to be fetched.
function Find-Copilot {
    if ($env:COPILOT_CLI_PATH) { return $env:COPILOT_CLI_PATH }
    $own = Find-OwnCopilot
    if ($null -ne $own) { return $own }
    Find-Program 'copilot.exe', 'copilot.cmd'
}

# A browser started from the desktop sees neither this shell's PATH nor its variables: keep what was found.
function Save-CopilotPath([string] $Path) {
    $config = [IO.Path]::Combine($userHome, '.browy', 'config.toml')
    # No mark at the start, and bytes that are no UTF-8 are an error, not question marks in the person's settings.
    $utf8 = [Text.UTF8Encoding]::new($false, $true)
    $settings = ''
    if ([IO.File]::Exists($config)) { $settings = [IO.File]::ReadAllText($config, $utf8) }
    if ($DryRun -or $settings -match '(?m)^ *cli_path') { return }
    $line = 'cli_path = "' + $Path.Replace('\', '\\').Replace('"', '\"') + '"' + "`n"
    $null = [IO.Directory]::CreateDirectory([IO.Path]::GetDirectoryName($config))
    [IO.File]::WriteAllText("$config.new", $line + $settings, $utf8)
    if ([IO.File]::Exists($config)) {
        # A plain $null would become an empty name for the backup.
        [IO.File]::Replace("$config.new", $config, [NullString]::Value)
    } else {
        [IO.File]::Move("$config.new", $config)
    }
    Write-Line "    kept as cli_path in $config"
}

# --- steps -----------------------------------------------------------------------------------------

function Confirm-Needs {
    $missing = @()
    if ($fromCheckout -and $null -eq (Find-Program 'cargo.exe')) {
        $missing += 'cargo: install Rust from https://rustup.rs, open a new terminal, and run this again'
    }
    if ($null -eq (Find-Copilot) -and $null -eq (Find-Program 'npm.cmd')) {
        $missing += 'npm, to get the Copilot CLI: install Node 20 or newer'
    }
    if ($missing.Count -eq 0) { return }
    $list = ($missing | ForEach-Object { "`n  - $_" }) -join ''
    if (-not $DryRun) { throw "missing:$list" }
    Write-Line "Missing:$list"
}

function Invoke-Build {
    Write-Step 'Building browy (a few minutes the first time)'
    # By its name in a dry run, where it may be missing.
    $cargo = Find-Program 'cargo.exe'
    if ($null -eq $cargo) { $cargo = 'cargo' }
    $manifest = [IO.Path]::Combine($root, 'Cargo.toml')
    Invoke-Program $cargo @('build', '--release', '--locked', '--manifest-path', $manifest)
    if ($exitCode -ne 0) {
        throw "cargo failed with exit code $exitCode. Does it miss link.exe? Visual Studio's C++ build tools have it."
    }
}

function Install-Program {
    Write-Step "Program: $program"
    $folder = [IO.Path]::GetDirectoryName($program)
    if (Test-SameFile $built $program) {
        Write-Line '    unchanged'
    } else {
        Invoke-Change "copy $built to $program" {
            $null = [IO.Directory]::CreateDirectory($folder)
            $new = [IO.Path]::Combine($folder, '.browy.new.exe')
            [IO.File]::Copy($built, $new, $true)
            # Windows lets nobody overwrite a program that runs, but rename it: a host that runs keeps its file.
            $old = [IO.Path]::Combine($folder, '.browy.old-' + [guid]::NewGuid().ToString('N') + '.exe')
            $replaces = [IO.File]::Exists($program)
            if ($replaces) { [IO.File]::Move($program, $old) }
            try {
                [IO.File]::Move($new, $program)
            } catch {
                if ($replaces) { [IO.File]::Move($old, $program) }
                throw
            }
        }
    }
    if ($DryRun) { return }
    foreach ($old in [IO.Directory]::GetFiles($folder, '.browy.old-*')) {
        try {
            [IO.File]::Delete($old)
        } catch {
            Write-Line '    an older program still runs; its file goes with the next installation'
        }
    }
}

function Install-Extension {
    Write-Step "Extension: $extension"
    $source = [IO.Path]::Combine($root, 'extension')
    if (Test-SameTree $source $extension) {
        Write-Line '    unchanged'
        return
    }
    Invoke-Change "copy $source to $extension" {
        Remove-Tree "$extension.new"
        Remove-Tree "$extension.old"
        Copy-Tree $source "$extension.new"
        $hint = [IO.Path]::Combine($extension, 'install-hint.json')
        if ([IO.File]::Exists($hint)) {
            [IO.File]::Copy($hint, [IO.Path]::Combine("$extension.new", 'install-hint.json'), $true)
        }
        $replaces = [IO.Directory]::Exists($extension)
        try {
            if ($replaces) { [IO.Directory]::Move($extension, "$extension.old") }
            [IO.Directory]::Move("$extension.new", $extension)
        } catch {
            $why = $_.Exception.Message
            if ($replaces -and -not [IO.Directory]::Exists($extension)) {
                [IO.Directory]::Move("$extension.old", $extension)
            }
            throw "cannot replace ${extension}: $why Close what has the folder open, and run this again"
        }
        Remove-Tree "$extension.old"
    }
}

function Install-Copilot {
    $copilot = Find-Copilot
    if ($null -ne $copilot) {
        Write-Step "Copilot CLI: $copilot"
        # The host looks in Browy's own folder by itself.
        if ($copilot -ne (Find-OwnCopilot)) { Save-CopilotPath $copilot }
        return
    }
    Write-Step "Copilot CLI: $ownCopilot"
    $source = [IO.Path]::Combine($root, 'install', 'copilot')
    Invoke-Change "copy package.json and package-lock.json from $source to $ownCopilot" {
        $null = [IO.Directory]::CreateDirectory($ownCopilot)
        foreach ($name in 'package.json', 'package-lock.json') {
            [IO.File]::Copy([IO.Path]::Combine($source, $name), [IO.Path]::Combine($ownCopilot, $name), $true)
        }
    }
    # The lock file pins the version and the checksums; no package may run scripts.
    $arguments = @('ci', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error')
    if ($DryRun) {
        Write-Line "    would run in ${ownCopilot}: npm $arguments"
        return
    }
    # In the folder and not with --prefix: npm.cmd is a batch file, which takes & or % in a path for its own.
    Push-Location -LiteralPath $ownCopilot
    try {
        Invoke-Program (Find-Program 'npm.cmd') $arguments
    } finally {
        Pop-Location
    }
    if ($exitCode -ne 0) { throw "npm failed with exit code $exitCode" }
    if ($null -eq (Find-OwnCopilot)) { throw 'npm installed no Copilot CLI for this machine' }
}

function Install-Browy {
    if ($fromCheckout) { Invoke-Build }
    Install-Program
    Install-Extension
    Install-Copilot
    $script:exitCode = 0
    if (-not $NoBrowserRegistration) {
        Write-Step 'Browsers'
        Invoke-Program $program @('install-host')
    }
    Write-Line ''
    Write-Line 'Next:'
    Write-Line '  1. Open chrome://extensions (edge://extensions, brave://extensions) and switch on Developer mode.'
    Write-Line "  2. Load unpacked: $extension"
    Write-Line "  3. Open the side panel with Browy's button in the toolbar."
    if ($NoBrowserRegistration) { Write-Line "Before that, register the host: & '$program' install-host" }
}

if ($Help) {
    Write-Line $usage
    exit 0
}

try {
    if ($env:OS -ne 'Windows_NT') { throw 'this script is for Windows; install/install.sh is for Linux and macOS' }

    # Asked of the system, as the program does: USERPROFILE is the same unless somebody changed it.
    $userHome = [Environment]::GetFolderPath('UserProfile')
    if (-not $userHome) { throw 'Windows names no folder for this user' }
    $root = [IO.Path]::GetDirectoryName($PSScriptRoot)
    $app = if ($Prefix) { Get-FullPath $Prefix } else { [IO.Path]::Combine($userHome, '.browy', 'app') }
    $program = [IO.Path]::Combine($app, 'bin', 'browy.exe')
    $extension = [IO.Path]::Combine($app, 'extension')
    # Always there, because the host looks there.
    $ownCopilot = [IO.Path]::Combine($userHome, '.browy', 'app', 'copilot')

    $fromCheckout = $false
    $built = [IO.Path]::Combine($root, 'browy.exe')
    if (-not [IO.File]::Exists($built)) {
        if (-not [IO.File]::Exists([IO.Path]::Combine($root, 'Cargo.toml'))) {
            $where = if ($releases) { "; releases are at $releases" } else { '' }
            throw "$root is neither a checkout nor a release archive$where"
        }
        $fromCheckout = $true
        $target = if ($env:CARGO_TARGET_DIR) {
            Get-FullPath $env:CARGO_TARGET_DIR
        } else {
            [IO.Path]::Combine($root, 'target')
        }
        $built = [IO.Path]::Combine($target, 'release', 'browy.exe')
    }
    Confirm-Needs
    Install-Browy
} catch {
    [Console]::Error.WriteLine('install.ps1: ' + $_.Exception.Message)
    exit 1
}
exit $exitCode
